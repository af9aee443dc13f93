package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// k6 keeps no results, only sums.
func k6(program string) func(context.Context, *stage, load) (figures, error) {
	return func(ctx context.Context, s *stage, l load) (f figures, err error) {
		script, summary := filepath.Join(s.dir, "k6.js"), filepath.Join(s.dir, "k6.json")
		defer os.Remove(summary)
		if err := os.WriteFile(script, []byte(k6Script(s.url, l)), 0o600); err != nil {
			return f, err
		}
		_, f.cpu, err = command(ctx, program, "run", "--quiet", "--no-usage-report", "--address", "", "--log-output", "none",
			"--summary-export", summary, "--summary-trend-stats", "med,p(99),max", script)
		if err != nil {
			return f, err
		}
		return f, f.fromK6(summary)
	}
}

func k6Script(url string, l load) string {
	scenario := fmt.Sprintf(`executor: "constant-vus", vus: %d`, l.clients)
	if l.rate > 0 {
		scenario = fmt.Sprintf(`executor: "constant-arrival-rate", rate: %.0f, timeUnit: "1s", preAllocatedVUs: %d`, l.rate, l.clients)
	}
	return fmt.Sprintf(`import http from "k6/http";
export const options = { scenarios: { bench: { %s, duration: "%dms", gracefulStop: "5s" } } };
const params = { headers: { "Content-Type": "application/json", "Idempotency-Key": %q } };
export default function () { http.post(%q, %q, params); }
`, scenario, l.length.Milliseconds(), key, url+path, body)
}

func (f *figures) fromK6(summary string) error {
	text, err := os.ReadFile(summary)
	if err != nil {
		return err
	}
	var r struct {
		Metrics struct {
			Requests struct{ Count, Rate float64 } `json:"http_reqs"`
			Failed   struct{ Value float64 }       `json:"http_req_failed"`
			Dropped  struct{ Count int64 }         `json:"dropped_iterations"`
			Duration struct {
				Med, Max float64
				P99      float64 `json:"p(99)"`
			} `json:"http_req_duration"` // milliseconds
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("k6's summary: %w", err)
	}
	m := r.Metrics
	if m.Failed.Value > 0 || m.Requests.Rate == 0 {
		return fmt.Errorf("k6: %.0f requests, %.2f %% of them failed", m.Requests.Count, 100*m.Failed.Value)
	}
	f.requests, f.seconds = int64(m.Requests.Count), m.Requests.Count/m.Requests.Rate
	f.times = times{int64(m.Duration.Med * 1e6), int64(m.Duration.P99 * 1e6), int64(m.Duration.Max * 1e6)}
	if m.Dropped.Count > 0 {
		f.remark = fmt.Sprintf("%d requests were never sent", m.Dropped.Count)
	}
	return nil
}
