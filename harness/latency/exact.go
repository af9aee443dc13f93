package latency

import (
	"slices"
	"time"
)

// Exact gives the median, the p99 and the maximum of nanoseconds that were all kept; it sorts them. A percentile that has too few samples is not known.
func Exact(ns []int64) (p50, p99 Quantile, most time.Duration) {
	if len(ns) == 0 {
		return Quantile{Q: 0.5}, Quantile{Q: 0.99}, 0
	}
	slices.Sort(ns)
	return exactQuantile(ns, 0.5), exactQuantile(ns, 0.99), time.Duration(ns[len(ns)-1])
}

func exactQuantile(sorted []int64, q float64) Quantile {
	n := int64(len(sorted))
	low, high, ok := interval(n, q)
	if !ok {
		return Quantile{Q: q}
	}
	at := func(rank int64) time.Duration { return time.Duration(sorted[rank-1]) }
	return Quantile{Q: q, Known: true, Value: at(nearestRank(n, q)), Low: at(low), High: at(high)}
}
