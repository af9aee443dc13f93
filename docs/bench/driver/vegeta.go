package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// vegeta keeps every result in a file, as the driver does, and reports from it afterwards, outside the time that is measured.
func vegeta(program string) func(context.Context, *stage, load) (figures, error) {
	return func(ctx context.Context, s *stage, l load) (f figures, err error) {
		targets, bodyFile, results := filepath.Join(s.dir, "targets"), filepath.Join(s.dir, "body"), filepath.Join(s.dir, "results")
		defer os.Remove(results)
		text := fmt.Sprintf("POST %s%s\nContent-Type: application/json\nIdempotency-Key: %s\n@%s\n", s.url, path, key, bodyFile)
		if err := errors.Join(os.WriteFile(bodyFile, []byte(body), 0o600), os.WriteFile(targets, []byte(text), 0o600)); err != nil {
			return f, err
		}
		args := []string{"attack", "-targets", targets, "-output", results, "-duration", l.length.String(), "-rate", fmt.Sprint(l.rate)}
		if l.clients > 0 {
			n := strconv.Itoa(l.clients)
			args = append(args, "-workers", n, "-max-workers", n, "-connections", n)
		}
		if _, f.cpu, err = command(ctx, program, args...); err != nil {
			return f, err
		}
		if err := f.fromVegeta(ctx, program, results); err != nil || l.rate == 0 {
			return f, err
		}
		return f, f.lateness(ctx, program, results, l.rate)
	}
}

func (f *figures) fromVegeta(ctx context.Context, program, results string) error {
	out, cpu, err := command(ctx, program, "report", "-type", "json", results)
	if err != nil {
		return err
	}
	f.report += cpu
	var r struct {
		Latencies struct {
			P50 int64 `json:"50th"`
			P99 int64 `json:"99th"`
			Max int64
		}
		Duration, Wait int64
		Requests       int64
		Success        float64
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return fmt.Errorf("vegeta report: %w", err)
	}
	if r.Success < 1 {
		return fmt.Errorf("vegeta: only %.2f %% of its requests succeeded", 100*r.Success)
	}
	f.requests, f.seconds = r.Requests, time.Duration(r.Duration+r.Wait).Seconds()
	f.times = times{r.Latencies.P50, r.Latencies.P99, r.Latencies.Max}
	return nil
}

// lateness compares vegeta's send times with an even grid. It does not say when its grid began, so the grid is laid such that its most punctual
// request is on time.
func (f *figures) lateness(ctx context.Context, program, results string, rate float64) error {
	out, cpu, err := command(ctx, program, "encode", "-to", "csv", results)
	if err != nil {
		return err
	}
	f.report += cpu
	rows := csv.NewReader(bytes.NewReader(out))
	least := int64(math.MaxInt64)
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || len(row) < 9 {
			return fmt.Errorf("vegeta encode: %d columns: %w", len(row), err)
		}
		sent, err := strconv.ParseInt(row[0], 10, 64)
		n, err2 := strconv.ParseInt(row[8], 10, 64) // its place in the attack
		if err := errors.Join(err, err2); err != nil {
			return fmt.Errorf("vegeta encode: %w", err)
		}
		f.late = append(f.late, sent-int64(float64(n)*1e9/rate))
		least = min(least, f.late[len(f.late)-1])
	}
	for i := range f.late {
		f.late[i] -= least
	}
	return nil
}
