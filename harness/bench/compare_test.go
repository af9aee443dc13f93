package bench

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// made is a result of ten runs; rate and p99 of a series are multiplied by what factors says, and jitter is each run's own share.
func made(jitter float64, factors map[string]float64) Result {
	r := Result{Schema: Schema, Kind: "claim", Runs: 10, Grid: Grid{
		Strategies: []string{"insert-first", "redis"}, Clients: []int{8}, Duplicates: []int{2}, Handler: []time.Duration{0}, SyncCommit: []string{"on"}, Floor: true,
	}}
	rnd := rand.New(rand.NewPCG(1, 1))
	for run := 1; run <= r.Runs; run++ {
		for place, c := range r.Grid.Cells() {
			factor := factors[c.Series]
			if factor == 0 {
				factor = 1
			}
			factor *= 1 + jitter*(rnd.Float64()-0.5)
			p99 := latency.Quantile{Q: 0.99, Known: true, Value: time.Duration(float64(10*time.Millisecond) * factor)}
			r.Measurements = append(r.Measurements, Measurement{
				Cell: c, Run: run, Place: place + 1, Keys: 1000, Requests: 2000, KeysPerSecond: 1000 / factor,
				Winner: Times{Count: 1000, Max: time.Second, Quantiles: []latency.Quantile{p99}},
			})
		}
	}
	return r
}

var setting = Setting{8, 2, 0, "on"}

func TestNoVerdictIsGivenInsideTheNoise(t *testing.T) {
	for name, x := range map[string]struct {
		factors map[string]float64
		want    Verdict
	}{
		"the same":             {nil, WithinNoise},
		"slower":               {map[string]float64{"redis": 1.5}, Worse},
		"faster":               {map[string]float64{"redis": 0.5}, Better},
		"slower, in the noise": {map[string]float64{"redis": 1.5, "insert-first-again": 1.6}, WithinNoise},
	} {
		r := made(0.05, x.factors)
		for _, m := range []Metric{Throughput, WinnerP99} {
			if got := r.Against(Cell{"redis", setting}, setting, m); got.Verdict != x.want {
				t.Errorf("%s, %s: %+v, want %q", name, m.Name, got, x.want)
			}
		}
	}
}

func TestTooFewRunsGiveNoVerdict(t *testing.T) {
	r := made(0.05, map[string]float64{"redis": 9})
	var kept []Measurement
	for _, m := range r.Measurements {
		if m.Run < LeastRuns {
			kept = append(kept, m)
		}
	}
	r.Measurements = kept
	if got := r.Against(Cell{"redis", setting}, setting, WinnerP99); got.Verdict != NoVerdict || got.Ratio.Runs != LeastRuns-1 {
		t.Errorf("%+v", got)
	}
}

func TestAPercentileThatARunLacksIsNotCompared(t *testing.T) {
	r := made(0.05, nil)
	for i := range r.Measurements {
		if m := &r.Measurements[i]; m.Series == "redis" && m.Run == 3 {
			m.Winner.Quantiles[0].Known = false
		}
	}
	redis := Cell{"redis", setting}
	if got := r.Against(redis, setting, WinnerP99); got.Ratio.Runs != 0 {
		t.Errorf("compared: %+v", got)
	}
	if got := r.Figure(redis, WinnerP99); got.Runs != 0 {
		t.Errorf("shown: %+v", got)
	}
	q := latency.Quantile{Q: 0.99, Known: true, Value: 7, Low: 6, High: 9}
	r.Pooled = []Pooled{{redis, Winner, latency.Summary{Quantiles: []latency.Quantile{q}}}}
	if got := r.Figure(redis, WinnerP99); !got.Pooled || got.Value != 7 || got.Low != 6 {
		t.Errorf("all runs together: %+v", got)
	}
}

func TestTheRatioToPgbenchIsOverItsSingleRequest(t *testing.T) {
	got := made(0, map[string]float64{Floor: 0.5}).OverFloor(Cell{"redis", setting}, Throughput)
	if got.Value < 0.499 || got.Value > 0.501 {
		t.Errorf("%+v, want 0.5", got)
	}
}

func TestAGateFailsOnlyBeyondDoubt(t *testing.T) {
	tenth := 0.1
	limits := Limits{P99: &tenth, Throughput: &tenth}
	for name, x := range map[string]struct {
		jitter  float64
		factors map[string]float64
		want    verdict.Status
	}{
		"nothing changed":           {0.02, nil, verdict.Held},
		"much slower":               {0.02, map[string]float64{"redis": 1.5}, verdict.Violated},
		"faster":                    {0.02, map[string]float64{"redis": 0.5}, verdict.Held},
		"about the limit":           {0.1, map[string]float64{"redis": 1.1}, verdict.Inconclusive},
		"slower inside the noise":   {0.02, map[string]float64{"redis": 1.5, "insert-first-again": 2}, verdict.Inconclusive},
		"the machine became slower": {0.02, map[string]float64{"redis": 1.5, Floor: 1.5}, verdict.Inconclusive},
	} {
		c := Compare(made(0.02, nil), made(x.jitter, x.factors), limits)
		for _, change := range c.Changes {
			if change.Series == "redis" && change.Gate.Status != x.want {
				t.Errorf("%s: %s is %v, want %v (%+v)", name, change.Metric, change.Gate.Status, x.want, change)
			}
			if change.Series == Unprotected && change.Gate.Status != verdict.NotJudged {
				t.Errorf("%s: what is unprotected is judged", name)
			}
		}
	}
}

func TestAGateWithoutDataIsInconclusive(t *testing.T) {
	a, b := made(0.02, nil), made(0.02, nil)
	for i := range b.Measurements {
		b.Measurements[i].Winner = Times{}
	}
	tenth := 0.1
	judged, worst := Compare(a, b, Limits{P99: &tenth}).Gated()
	if !judged || worst != verdict.Inconclusive {
		t.Errorf("judged %v, %v", judged, worst)
	}
	if judged, _ := Compare(a, b, Limits{}).Gated(); judged {
		t.Error("a gate that nobody asked for was judged")
	}
}

func TestCellsOfOneBenchmarkAreNamed(t *testing.T) {
	a, b := made(0.02, nil), made(0.02, nil)
	b.Grid.Clients = []int{32}
	for i := range b.Measurements {
		b.Measurements[i].Clients = 32
	}
	c := Compare(a, b, Limits{})
	if len(c.Changes) != 0 || len(c.Missing) != 8 {
		t.Errorf("%d changes, missing %v", len(c.Changes), c.Missing)
	}
}

func TestAResultIsReadAsItWasWritten(t *testing.T) {
	want := made(0.05, nil)
	want.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	dir := t.TempDir()
	if err := Save(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestADamagedResultIsRefusedByName(t *testing.T) {
	for name, text := range map[string]string{"cut": `{"schema":1,`, "later": `{"schema":9}`, "empty": `{"schema":1}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), File) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
