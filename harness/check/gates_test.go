package check

import (
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

func TestAGateIsJudgedByTheWholeInterval(t *testing.T) {
	const ms = time.Millisecond
	summary := func(known bool, low, value, high time.Duration) []latency.Summary {
		return []latency.Summary{{
			Series: latency.Series{Group: "all", Kind: latency.Response}, Count: 1000,
			Quantiles: []latency.Quantile{{Q: 0.99, Known: known, Low: low, Value: value, High: high}},
		}}
	}
	gate := Gate{Group: "all", Quantile: 0.99, Limit: 10 * ms}
	cases := []struct {
		name      string
		summaries []latency.Summary
		want      verdict.Status
	}{
		{"within", summary(true, 5*ms, 6*ms, 10*ms), verdict.Held},
		{"above", summary(true, 11*ms, 12*ms, 13*ms), verdict.Violated},
		{"astride", summary(true, 9*ms, 10*ms, 11*ms), verdict.Inconclusive},
		{"too few samples", summary(false, 1*ms, 1*ms, 1*ms), verdict.Inconclusive},
		{"no such series", nil, verdict.Inconclusive},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := JudgeGates([]Gate{gate}, c.summaries)[0]
			if got.Status != c.want {
				t.Errorf("%v, want %v (%s)", got.Status, c.want, got.Why)
			}
			if got.Status == verdict.Inconclusive && got.Why == "" {
				t.Error("no reason given")
			}
		})
	}
}
