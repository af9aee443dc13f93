package bench

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAnIntervalTakesSixRuns(t *testing.T) {
	five, six := []float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, 5, 6}
	for name, of := range map[string]func([]float64) Interval{
		"middle": Middle, "ratio": func(v []float64) Interval { return Ratio(ones(len(v)), v) },
	} {
		if got := of(five); got.Known || got.Runs != 5 || got.Value <= 0 {
			t.Errorf("%s of five: %+v", name, got)
		}
		if got := of(six); !got.Known || math.Abs(got.Low-1) > 1e-9 || math.Abs(got.High-6) > 1e-9 {
			t.Errorf("%s of six: %+v, want from the least to the most", name, got)
		}
		if got := of(nil); got != (Interval{}) {
			t.Errorf("%s of nothing: %+v", name, got)
		}
	}
}

// The ranks are those of printed tables of the sign test and of the signed-rank test at 5 %, two-sided (critical value + 1).
func TestRanksAreThoseOfTheTables(t *testing.T) {
	for n, want := range map[int][2]int{5: {0, 0}, 6: {1, 1}, 8: {1, 4}, 10: {2, 9}, 15: {4, 26}, 20: {6, 53}, 25: {8, 90}} {
		if got := [2]int{signRank(n), signedRank(n)}; got != want {
			t.Errorf("n = %d: sign %d, signed-rank %d; want %v", n, got[0], got[1], want)
		}
	}
}

func TestOneBadRunDoesNotCarryTheRatioAway(t *testing.T) {
	base, other := ones(10), ones(10)
	for i := range other {
		other[i] = 1.2 + 0.001*float64(i)
	}
	other[3] = 50
	if got := Ratio(base, other); math.Abs(got.Value-1.2) > 0.02 {
		t.Errorf("%+v, want about 1.2", got)
	}
}

func TestIntervalsHoldTheTruthInNineteenOfTwentyCases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 4000
	held := 0
	for range trials {
		base, other := make([]float64, 10), make([]float64, 10)
		for i := range base { // a run is slow or fast as a whole, and both sides feel it
			run := math.Exp(r.NormFloat64())
			base[i], other[i] = run*math.Exp(0.1*r.NormFloat64()), 1.3*run*math.Exp(0.1*r.NormFloat64())
		}
		if got := Ratio(base, other); got.Low <= 1.3 && 1.3 <= got.High {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.94 || share > 0.97 {
		t.Errorf("the truth was inside in %.3f of the trials", share)
	}
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
