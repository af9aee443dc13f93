package verdict_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

var orderFresh = latency.Series{Group: "order fresh", Kind: latency.Response}

// latencies are n response times that scatter around a median, the same for the same seed.
func latencies(seed uint64, n int, median time.Duration) *latency.Set {
	random := rand.New(rand.NewPCG(seed, 0))
	set := &latency.Set{}
	r := set.Recorder()
	for range n {
		r.Record(orderFresh, time.Duration(float64(median)*(0.5+random.ExpFloat64()*0.7)))
	}
	r.Flush()
	return set
}

func side(name string, status verdict.Status, set *latency.Set) verdict.Side {
	return verdict.Side{Name: name, Latency: set, Run: verdict.Run{
		Scenario: "race", Verdict: verdict.Verdict{Scenario: "race", Findings: []verdict.Finding{{Invariant: "at-most-once", Status: status, Looked: 9}}},
	}}
}

func TestAStatusGoesTheWayThatItsTwoEndsSay(t *testing.T) {
	const held, violated, open, none = verdict.Held, verdict.Violated, verdict.Inconclusive, verdict.NotJudged
	for _, c := range []struct {
		a, b verdict.Status
		want verdict.Trend
		exit int
	}{
		{held, held, verdict.Same, verdict.ExitHeld},
		{held, violated, verdict.Worse, verdict.ExitViolated},
		{open, violated, verdict.Worse, verdict.ExitViolated},
		{none, violated, verdict.Worse, verdict.ExitViolated},
		{violated, held, verdict.Better, verdict.ExitHeld},
		{held, open, verdict.LessKnown, verdict.ExitInconclusive},
		{violated, open, verdict.LessKnown, verdict.ExitInconclusive},
		{held, none, verdict.LessKnown, verdict.ExitInconclusive},
		{open, held, verdict.MoreKnown, verdict.ExitHeld},
		{open, none, verdict.Same, verdict.ExitHeld},
	} {
		got := verdict.Compare(side("a", c.a, nil), side("b", c.b, nil), nil, verdict.Noise)
		if got.Invariants[0].Trend != c.want || got.Exit() != c.exit {
			t.Errorf("%v → %v: %v, exit %d", c.a, c.b, got.Invariants[0].Trend, got.Exit())
		}
	}
}

func TestALatencyDiffersOnlyOutsideTheNoise(t *testing.T) {
	a := side("a", verdict.Held, latencies(1, 2000, 10*time.Millisecond))
	for median, want := range map[time.Duration]verdict.Trend{
		10 * time.Millisecond: verdict.CannotTell, 12 * time.Millisecond: verdict.CannotTell,
		30 * time.Millisecond: verdict.Worse, 3 * time.Millisecond: verdict.Better,
	} {
		got := verdict.Compare(a, side("b", verdict.Held, latencies(2, 2000, median)), nil, verdict.Noise)
		if len(got.Latencies) != 2 {
			t.Fatalf("%d percentiles were compared", len(got.Latencies))
		}
		for _, l := range got.Latencies {
			if l.Trend != want {
				t.Errorf("%v: p%g is %v: %+v", median, l.Q*100, l.Trend, l.Ratio)
			}
		}
		if slower := got.Exit() == verdict.ExitGate; slower != (want == verdict.Worse) {
			t.Errorf("%v: exit %d", median, got.Exit())
		}
	}
}

func TestWhatTwoRunsOfOneServerDifferByIsNoDifference(t *testing.T) {
	a := side("a", verdict.Held, latencies(1, 2000, 10*time.Millisecond))
	again := side("a again", verdict.Held, latencies(3, 2000, 40*time.Millisecond))
	got := verdict.Compare(a, side("b", verdict.Held, latencies(2, 2000, 30*time.Millisecond)), &again, verdict.Noise)
	if slices.ContainsFunc(got.Latencies, func(l verdict.LatencyChange) bool { return l.Trend != verdict.CannotTell }) || got.Measured != "a again" {
		t.Errorf("%+v", got.Latencies)
	}
}

func TestTooFewSamplesAreNotCompared(t *testing.T) {
	a, b := side("a", verdict.Held, latencies(1, 100, time.Millisecond)), side("b", verdict.Held, latencies(2, 100, time.Second))
	if got := verdict.Compare(a, b, nil, verdict.Noise); got.Scarce != 1 || len(got.Latencies) != 1 || got.Latencies[0].Q != 0.5 {
		t.Errorf("%d scarce, %+v", got.Scarce, got.Latencies)
	}
}

func TestTheSameRunsGiveTheSameComparison(t *testing.T) {
	a, b := side("a", verdict.Held, latencies(1, 500, time.Millisecond)), side("b", verdict.Held, latencies(2, 500, time.Millisecond))
	x, y := verdict.Compare(a, b, nil, verdict.Noise), verdict.Compare(a, b, nil, verdict.Noise)
	if d := cmp.Diff(x.Latencies, y.Latencies); d != "" {
		t.Error(d)
	}
}

// Of two halves of one crowd the interval must say that they may be the same, nearly always: it is one of 99 %.
func TestTheIntervalOfARatioCoversOneWhereNothingDiffers(t *testing.T) {
	const trials = 200
	missed := 0
	for i := range uint64(trials) {
		random := rand.New(rand.NewPCG(i, 9))
		r, ok := latency.RatioOf(latencies(2*i+10, 600, time.Millisecond), latencies(2*i+11, 600, time.Millisecond), orderFresh, 0.99, random)
		if !ok {
			t.Fatal("600 samples are enough for a p99")
		}
		if r.Low > 1 || r.High < 1 {
			missed++
		}
	}
	if missed > trials*4/100 { // a bootstrap of a tail is a little too narrow; the seeds are fixed
		t.Errorf("%d of %d intervals of 99 %% miss the truth", missed, trials)
	}
}

func TestARunThatDoubtsItselfIsACaveat(t *testing.T) {
	b := side("b", verdict.Held, nil)
	b.Run.Verdict.Doubts, b.Run.PlanDigest = []string{"the generator was late"}, "abc"
	got := verdict.Compare(side("a", verdict.Held, nil), b, nil, verdict.Noise)
	for _, want := range []string{"plan: nothing known in A, abc in B", "B doubts itself: the generator was late", "the latencies of A could not be read, so none are compared"} {
		if !slices.Contains(got.Caveats, want) {
			t.Errorf("%q lacks %q", got.Caveats, want)
		}
	}
}
