package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

const (
	draws     = 4000  // how often a percentile is drawn again for the interval of a ratio
	ratioTail = 0.005 // what the interval leaves out on each side: stricter than one percentile's, since dozens of ratios are looked at together
)

// Ratio is how many times as long one run's percentile is as another's, with a 99 % bootstrap interval.
type Ratio struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// RatioOf holds the q-quantile of a series of b against that of a. The interval is that of a bootstrap over the samples of both: the rank of
// the quantile of n samples that are drawn again is binomial, so it is drawn itself, and looked up in the histogram. It knows of the scatter
// within each run alone. ok is false where either run has too few samples for the percentile, or where it took no time at all.
func RatioOf(a, b *Set, series Series, q float64, random *rand.Rand) (r Ratio, ok bool) {
	from, of := a.Quantile(series, q), b.Quantile(series, q)
	if !from.Known || !of.Known || from.Value <= 0 || of.Value <= 0 {
		return Ratio{}, false
	}
	drawA, drawB := a.resampler(series, q), b.resampler(series, q)
	ratios := make([]float64, draws)
	for i := range ratios {
		ratios[i] = drawB(random) / max(1, drawA(random))
	}
	slices.Sort(ratios)
	at := func(p float64) float64 { return ratios[min(draws-1, int(p*draws))] }
	return Ratio{Value: float64(of.Value) / float64(from.Value), Low: at(ratioTail), High: at(1 - ratioTail)}, true
}

// resampler draws a percentile, in nanoseconds, of the series' samples drawn again.
func (s *Set) resampler(series Series, q float64) func(*rand.Rand) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.series[series].ranks()
	first, cdf := binomialCDF(at.n, q)
	return func(random *rand.Rand) float64 {
		k := first + int64(sort.SearchFloat64s(cdf, random.Float64()))
		return float64(at.value(min(max(1, k), at.n)))
	}
}

// binomialCDF is the distribution of a binomial number from first on, as far as it does not vanish.
func binomialCDF(n int64, q float64) (first int64, cdf []float64) {
	spread := 10*math.Sqrt(float64(n)*q*(1-q)) + 10
	first = max(0, int64(float64(n)*q-spread))
	last := min(n, int64(float64(n)*q+spread))
	pmf, sum := binomial(n, first, q), 0.0
	for k := first; k <= last; k++ {
		sum += pmf
		cdf = append(cdf, sum)
		pmf *= float64(n-k) / float64(k+1) * q / (1 - q)
	}
	return first, cdf
}
