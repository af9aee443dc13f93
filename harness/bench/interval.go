package bench

import (
	"math"
	"slices"
)

// confidence of every interval is 95 %; tail is what it leaves out on each side.
const tail = 0.025

// LeastRuns is how many runs a 95 % interval needs: with five, even the extremes enclose the middle in 93.75 % of cases only.
const LeastRuns = 6

// Interval is a figure over runs with its 95 % interval. Runs is how many it rests on; Known is false where they are too few for an interval,
// and Value is then all there is (nothing at all without a run).
type Interval struct {
	Runs  int     `json:"runs"`
	Known bool    `json:"known"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Middle is the median of per-run values between the order statistics that enclose the true one with 95 % probability, whatever the distribution is.
// It is what benchstat prints too.
func Middle(values []float64) Interval {
	n := len(values)
	if n == 0 {
		return Interval{}
	}
	sorted := slices.Sorted(slices.Values(values))
	out := Interval{Runs: n, Value: (sorted[(n-1)/2] + sorted[n/2]) / 2}
	if k := signRank(n); k > 0 {
		out.Known, out.Low, out.High = true, sorted[k-1], sorted[n-k]
	}
	return out
}

// signRank is the largest k such that the k-th smallest and the k-th largest of n values enclose the median with 95 % probability; 0 for none.
func signRank(n int) (k int) {
	p := math.Exp2(-float64(n)) // of no value below the median
	for cdf := 0.0; k < n; k++ {
		if cdf += p; cdf > tail {
			break
		}
		p *= float64(n-k) / float64(k+1)
	}
	return k
}

// Ratio is other over base, in pairs: the Hodges-Lehmann estimate of the log ratios (the median of the means of all pairs of them) with the exact interval
// of the Wilcoxon signed-rank test. It assumes no distribution, and one bad run among ten does not carry it away. Both slices have one
// value a run, all above zero.
func Ratio(base, other []float64) Interval {
	n := min(len(base), len(other))
	if n == 0 {
		return Interval{}
	}
	logs := make([]float64, n)
	for i := range logs {
		logs[i] = math.Log(other[i] / base[i])
	}
	walsh := walshAverages(logs)
	m := len(walsh)
	out := Interval{Runs: n, Value: math.Exp((walsh[(m-1)/2] + walsh[m/2]) / 2)}
	if k := signedRank(n); k > 0 {
		out.Known, out.Low, out.High = true, math.Exp(walsh[k-1]), math.Exp(walsh[m-k])
	}
	return out
}

// walshAverages are the means of all pairs, each value with itself included, sorted.
func walshAverages(values []float64) []float64 {
	out := make([]float64, 0, len(values)*(len(values)+1)/2)
	for i, a := range values {
		for _, b := range values[i:] {
			out = append(out, (a+b)/2)
		}
	}
	slices.Sort(out)
	return out
}

// signedRank is the largest k such that the k-th smallest and the k-th largest Walsh average of n values enclose the true centre with 95 %
// probability; 0 for none. The distribution of the rank sum is counted out: each rank is in it or not, with probability one half.
func signedRank(n int) (k int) {
	most := n * (n + 1) / 2
	p := make([]float64, most+1)
	p[0] = 1
	for rank := 1; rank <= n; rank++ {
		for w := most; w >= 0; w-- {
			p[w] /= 2
			if w >= rank {
				p[w] += p[w-rank] / 2
			}
		}
	}
	for cdf := 0.0; k <= most; k++ {
		if cdf += p[k]; cdf > tail {
			break
		}
	}
	return k
}
