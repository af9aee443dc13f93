package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// sampleBench is a benchmark of two strategies in which the second one is slower.
func sampleBench() bench.Result {
	r := bench.Result{
		Schema: bench.Schema, Kind: "claim", Tool: "test", Seed: 7, Runs: 8, Pool: 32, Took: time.Minute,
		Environment: []verdict.Fact{{Name: "cpu", Value: "Some CPU × 2"}},
		LeftOut:     []bench.LeftOut{{Series: "row-lock", Why: "<script>alert(1)</script>"}},
		Notes:       []string{"redis promises less: it forgets"},
		RoundTrips:  []bench.RoundTrips{{Series: "insert-first", Winner: 5, Replay: 3}, {Series: "redis", Winner: 6, Replay: 4}},
		Grid: bench.Grid{
			Strategies: []string{"insert-first", "redis"}, Clients: []int{8, 32}, Duplicates: []int{2}, Handler: []time.Duration{0}, SyncCommit: []string{"on"}, Floor: true,
		},
	}
	for i, c := range r.Grid.Cells() {
		set := &latency.Set{}
		for run := 1; run <= r.Runs; run++ {
			r.Measurements = append(r.Measurements, sampleMeasurement(c, run, i+1, set))
		}
		for _, role := range bench.Roles {
			if s := set.Summary(latency.Series{Group: string(role)}); s.Count > 0 {
				r.Pooled = append(r.Pooled, bench.Pooled{Cell: c, Role: role, Summary: s})
			}
		}
	}
	return r
}

func sampleMeasurement(c bench.Cell, run, place int, all *latency.Set) bench.Measurement {
	slow := 1 + 0.002*float64((run*7+place)%5)
	if c.Series == "redis" {
		slow *= 1.5
	}
	one, wal := &latency.Set{}, 1500.0
	record := one.Recorder()
	roles := bench.Roles
	if c.Series == bench.Floor || c.Series == bench.Unprotected {
		roles = roles[:1]
	}
	for _, role := range roles {
		for i := range 400 {
			record.Record(latency.Series{Group: string(role)}, time.Duration(slow*float64(i+1)*float64(20*time.Microsecond)*float64(c.Clients)/8))
		}
	}
	record.Flush()
	all.Merge(one)
	times := func(role bench.Role) bench.Times {
		return bench.TimesOf(one.Summary(latency.Series{Group: string(role)}))
	}
	return bench.Measurement{
		Cell: c, Run: run, Place: place, Keys: 400, Requests: 800, KeysPerSecond: 40 * float64(c.Clients) / slow, ReplaysPerSecond: 3000 / slow,
		Winner: times(bench.Winner), Loser: times(bench.Loser), Replay: times(bench.Replay), PerRequest: bench.PerRequest{WAL: &wal},
	}
}

func TestABenchmarkFitsTheTerminal(t *testing.T) {
	var b bytes.Buffer
	if err := WriteBench(&b, Terminal{}, sampleBench()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"+50 % (", ") worse", "noise floor", "redis promises less", "Left out: row-lock", "5 / 3", "1,500"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func TestABenchmarksPageRunsNothingAndDrawsEverySeries(t *testing.T) {
	var b bytes.Buffer
	if err := WriteBenchHTML(&b, sampleBench()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, "<script") || !strings.Contains(page, "default-src 'none'") && !strings.Contains(page, "default-src &#39;none&#39;") {
		t.Error("the page may run something")
	}
	if n := strings.Count(page, "<svg class=\"wide\""); n != 1+2*3 {
		t.Errorf("%d drawings, want one of all and three a setting", n)
	}
	for i := range 4 {
		if !strings.Contains(page, fmt.Sprintf(`<polyline class="curve s%d"`, i)) {
			t.Errorf("series %d is not drawn", i)
		}
	}
}

func TestABenchmarkWithoutAnythingIsShown(t *testing.T) {
	r := bench.Result{Grid: bench.Grid{Strategies: []string{"insert-first"}}, Interrupted: true}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"terminal":  func(b *bytes.Buffer) error { return WriteBench(b, Terminal{}, r) },
		"page":      func(b *bytes.Buffer) error { return WriteBenchHTML(b, r) },
		"benchstat": func(b *bytes.Buffer) error { return WriteGoBench(b, r) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBenchstatReadsEveryMeasurement(t *testing.T) {
	var b bytes.Buffer
	r := sampleBench()
	if err := WriteGoBench(&b, r); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for reader := benchfmt.NewReader(&b, "bench.txt"); reader.Scan(); {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(record)
		case *benchfmt.Result:
			lines++
			if _, ok := record.Value("keys/s"); !ok || record.Iters != 400 {
				t.Errorf("%s: %+v", record.Name, record.Values)
			}
		}
	}
	if lines != len(r.Measurements) {
		t.Errorf("%d lines of %d measurements", lines, len(r.Measurements))
	}
}

func TestAComparisonSaysWhyAGateIsNotMet(t *testing.T) {
	before, after := sampleBench(), sampleBench()
	for i := range after.Measurements {
		if m := &after.Measurements[i]; m.Series == "redis" {
			m.KeysPerSecond /= 2
			m.Winner.Quantiles = nil
		}
	}
	limit := 0.1
	var b bytes.Buffer
	if err := WriteBenchComparison(&b, Terminal{}, bench.Compare(before, after, bench.Limits{P99: &limit, Throughput: &limit})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"✗ a gate failed (exit 4)", "keys/s -50 %", "no run has the samples", "the machine: pgbench alone", "✓ met"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
