// Package latency records response and service times in HDR histograms and says what may be said of them.
//
// Conventions. All values are nanoseconds. Response time runs from the intended send time to the answer, service time from
// the actual send; lateness is the generator's own delay between the two. A percentile is given only where there are enough samples for a 95 %
// interval around it; elsewhere it is not known, which is not zero.
package latency

import "time"

// Series names what a histogram holds: one kind of time of one group of attempts.
type Series struct {
	Group string `json:"group"` // what was measured, such as "order fresh" or "all"
	Kind  Kind   `json:"kind"`
}

// Kind is which time is meant.
type Kind string

// The kinds of time.
const (
	Response Kind = "response" // done − intended
	Service  Kind = "service"  // done − sent
	Lateness Kind = "lateness" // sent − intended, open loop only
)

// Quantile is one percentile with its distribution-free 95 % interval. Known is false where the samples do not suffice.
type Quantile struct {
	Q     float64       `json:"q"` // 0.99 for p99
	Known bool          `json:"known"`
	Value time.Duration `json:"value_ns"`
	Low   time.Duration `json:"low_ns"`
	High  time.Duration `json:"high_ns"`
}

// Point is one point of a percentile curve.
type Point struct {
	Q     float64       `json:"q"`
	Value time.Duration `json:"value_ns"`
}

// Summary is what reports show of one series. Max is exact, not a bucket's edge.
type Summary struct {
	Series
	Count     int64         `json:"count"`
	Min       time.Duration `json:"min_ns"`
	Mean      time.Duration `json:"mean_ns"`
	Max       time.Duration `json:"max_ns"`
	Clipped   int64         `json:"clipped,omitempty"` // values outside the histogram's range, counted at its edge
	Quantiles []Quantile    `json:"quantiles"`         // p50, p90, p99, p99.9
	Curve     []Point       `json:"curve,omitempty"`   // up to the last percentile that the samples support
}
