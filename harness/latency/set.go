package latency

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision of all histograms. What lies outside the range is counted at its edge, and in Summary.Clipped.
const (
	lowest  = time.Microsecond // resolution
	highest = time.Hour
	digits  = 3
)

// All is the group of every answered attempt.
const All = "all"

// Set holds one histogram a series. It is safe for concurrent use; workers record through a Recorder each. The zero value is empty and ready.
type Set struct {
	mu     sync.Mutex
	series map[Series]*samples
}

// samples are the values of one series, with exactly those figures that a histogram only has by its buckets.
type samples struct {
	hist     *hdrhistogram.Histogram
	min, max time.Duration
	sum      float64 // nanoseconds; a float does not overflow
	clipped  int64
}

func newSamples() *samples {
	return &samples{hist: hdrhistogram.New(int64(lowest), int64(highest), digits)}
}

func (s *samples) count() int64 { return s.hist.TotalCount() }

func (s *samples) record(v time.Duration) {
	if s.count() == 0 || v < s.min {
		s.min = v
	}
	if s.count() == 0 || v > s.max {
		s.max = v
	}
	s.sum += float64(v)
	at := min(max(v, 0), highest)
	if at != v {
		s.clipped++
	}
	_ = s.hist.RecordValue(int64(at)) // at is in range
}

func (s *samples) merge(o *samples) {
	if o.count() == 0 {
		return
	}
	if s.count() == 0 {
		s.min, s.max = o.min, o.max
	}
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
	s.sum += o.sum
	s.clipped += o.clipped
	s.hist.Merge(o.hist)
}

// batchSize is how many samples a worker keeps to itself: enough that the set's lock does not matter.
const batchSize = 256

// Recorder takes the samples of one worker; it is not safe for concurrent use. A histogram takes 200 kB, so workers do not keep sets of their own but
// hand over small batches.
type Recorder struct {
	set   *Set
	batch []sample
}

type sample struct {
	series Series
	value  time.Duration
}

// Recorder returns a recorder for one worker.
func (s *Set) Recorder() *Recorder { return &Recorder{set: s, batch: make([]sample, 0, batchSize)} }

// Record adds one value. It is in the set after the next Flush at the latest.
func (r *Recorder) Record(series Series, v time.Duration) {
	if len(r.batch) == cap(r.batch) {
		r.Flush()
	}
	r.batch = append(r.batch, sample{series, v})
}

// Flush hands what was recorded over to the set.
func (r *Recorder) Flush() {
	r.set.mu.Lock()
	defer r.set.mu.Unlock()
	for _, x := range r.batch {
		r.set.at(x.series).record(x.value)
	}
	r.batch = r.batch[:0]
}

func (s *Set) at(series Series) *samples {
	if s.series == nil {
		s.series = map[Series]*samples{}
	}
	d := s.series[series]
	if d == nil {
		d = newSamples()
		s.series[series] = d
	}
	return d
}

// Merge adds all samples of o, which is not changed.
func (s *Set) Merge(o *Set) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for series, d := range o.series {
		s.at(series).merge(d)
	}
}

// Summaries describes every series, those of All first, then by group and kind.
func (s *Set) Summaries() []Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Summary, 0, len(s.series))
	for _, series := range s.sorted() {
		out = append(out, s.series[series].summary(series))
	}
	return out
}

// Summary describes one series; one without samples has Count 0.
func (s *Set) Summary(series Series) Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.series[series]
	if d == nil {
		d = newSamples()
	}
	return d.summary(series)
}

func (s *Set) sorted() []Series {
	return slices.SortedFunc(maps.Keys(s.series), func(a, b Series) int {
		return cmp.Or(-compareBool(a.Group == All, b.Group == All), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
