package latency

import (
	"math"
	"time"
)

// tail is what a 95 % interval leaves out on each side.
const tail = 0.025

// shown are the percentiles of a summary.
var shown = []float64{0.5, 0.9, 0.99, 0.999}

func (s *samples) summary(series Series) Summary {
	n := s.count()
	out := Summary{Series: series, Count: n, Min: s.min, Max: s.max, Clipped: s.clipped}
	if n > 0 {
		out.Mean = time.Duration(s.sum / float64(n))
	}
	at := s.ranks()
	for _, q := range shown {
		out.Quantiles = append(out.Quantiles, at.quantile(q))
	}
	for _, q := range supported(n) {
		out.Curve = append(out.Curve, Point{Q: q, Value: at.value(nearestRank(n, q))})
	}
	return out
}

// Quantile is one percentile of one series. q lies between 0 and 1.
func (s *Set) Quantile(series Series, q float64) Quantile {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.series[series]
	if d == nil {
		return Quantile{Q: q}
	}
	return d.ranks().quantile(q)
}

// nearestRank is the rank, from 1, of the q-quantile among n values: the smallest such that at least the share q is at or below it.
func nearestRank(n int64, q float64) int64 {
	const slack = 1e-9 // 0.99 × 100 must be 99, whatever the floats say
	return min(max(1, int64(math.Ceil(q*float64(n)-slack))), n)
}

// ranks looks up values by their rank.
type ranks struct {
	n          int64
	cumulative []bar
}

type bar struct {
	upTo  int64 // rank of the last value in it
	value time.Duration
}

// ranks gives each bucket's values as its upper edge, as HDR tools do, but never beyond the exact extremes.
func (s *samples) ranks() ranks {
	r := ranks{n: s.count()}
	var seen int64
	for _, b := range s.hist.Distribution() {
		if b.Count > 0 {
			seen += b.Count
			value := min(max(time.Duration(b.To), s.min), s.max)
			r.cumulative = append(r.cumulative, bar{seen, value})
		}
	}
	return r
}

func (r ranks) value(rank int64) time.Duration {
	lo, hi := 0, len(r.cumulative)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if r.cumulative[mid].upTo >= rank {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return r.cumulative[lo].value
}

// quantile gives the nearest-rank quantile between the order statistics that enclose the true one with 95 % probability, whatever the distribution is.
func (r ranks) quantile(q float64) Quantile {
	low, high, ok := interval(r.n, q)
	if !ok {
		return Quantile{Q: q}
	}
	return Quantile{Q: q, Known: true, Value: r.value(nearestRank(r.n, q)), Low: r.value(low), High: r.value(high)}
}

// interval gives the ranks of the order statistics that bound a two-sided, equal-tailed 95 % interval for the q-quantile of n independent samples. The number
// of samples below the true quantile is binomial; ok is false when even the extremes do not enclose it: q^n or (1−q)^n is above 2.5 %, so
// p99 needs 368 samples and p99.9 3,688.
func interval(n int64, q float64) (low, high int64, ok bool) {
	if n == 0 || math.Pow(q, float64(n)) > tail || math.Pow(1-q, float64(n)) > tail {
		return 0, 0, false
	}
	spread := 10*math.Sqrt(float64(n)*q*(1-q)) + 10 // beyond it the probability vanishes
	k := max(0, int64(float64(n)*q-spread))
	pmf := binomial(n, k, q)
	for cdf := 0.0; k < n; k++ {
		if cdf += pmf; cdf <= tail {
			low = k + 1
		}
		if cdf >= 1-tail {
			break
		}
		pmf *= float64(n-k) / float64(k+1) * q / (1 - q)
	}
	return max(low, 1), min(k+1, n), true
}

// binomial is the probability of k among n.
func binomial(n, k int64, q float64) float64 {
	choose := lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1)
	return math.Exp(choose + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
}

func lgamma(n int64) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}

// supported are the points of a percentile curve, four to each halving of the remaining share, up to the last that n samples support.
func supported(n int64) (qs []float64) {
	for k := range 120 {
		q := 1 - math.Exp2(-float64(k)/4)
		if n == 0 || math.Pow(q, float64(n)) > tail {
			break
		}
		qs = append(qs, q)
	}
	return qs
}
