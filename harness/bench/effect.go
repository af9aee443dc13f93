package bench

import (
	"maps"
	"slices"
)

// Verdict is what may be said of an effect.
type Verdict string

// The verdicts. NoVerdict is for too few runs or too few samples; WithinNoise is an effect that the same server shows against itself, or one whose interval
// reaches into that.
const (
	NoVerdict   Verdict = ""
	WithinNoise Verdict = "within noise"
	Better      Verdict = "better"
	Worse       Verdict = "worse"
)

// Noise is how far two measurements of the same thing differ: their ratio lies between 1/Reach and Reach with 95 % probability.
type Noise struct {
	Known bool    `json:"known"`
	Reach float64 `json:"reach"` // 1 or more
}

// noiseOf takes the far end of the interval of A over A.
func noiseOf(same Interval) Noise {
	if !same.Known {
		return Noise{}
	}
	return Noise{true, max(same.High, 1/same.Low)}
}

// wider is the larger of two floors; not known unless both are.
func (n Noise) wider(o Noise) Noise {
	return Noise{n.Known && o.Known, max(n.Reach, o.Reach)}
}

// Effect is a ratio to something else, and what may be said of it.
type Effect struct {
	Ratio   Interval `json:"ratio"`
	Noise   Noise    `json:"noise"`
	Verdict Verdict  `json:"verdict,omitempty"`
}

// judge gives a verdict only where the whole interval lies outside the noise.
func judge(ratio Interval, n Noise, higherIsBetter bool) Effect {
	e := Effect{Ratio: ratio, Noise: n}
	higher, lower := Worse, Better
	if higherIsBetter {
		higher, lower = Better, Worse
	}
	switch {
	case !ratio.Known || !n.Known:
	case ratio.Low > n.Reach:
		e.Verdict = higher
	case ratio.High < 1/n.Reach:
		e.Verdict = lower
	default:
		e.Verdict = WithinNoise
	}
	return e
}

// Figure is what a cell came to in one metric.
type Figure struct {
	Interval
	Pooled bool // over the requests of all runs together, where one run has too few samples
}

// Figure is the median over runs. A percentile that not every run has the samples for is given over all runs' requests together where those suffice.
func (r Result) Figure(c Cell, m Metric) Figure {
	runs := r.Find(c)
	values := valuesOf(runs, m)
	if len(values) == len(runs) || m.q == 0 {
		return Figure{Interval: Middle(slices.Collect(maps.Values(values)))}
	}
	for _, p := range r.Pooled {
		if p.Cell == c && p.Role == m.role {
			return pooledFigure(p, m.q, len(runs))
		}
	}
	return Figure{}
}

func pooledFigure(p Pooled, q float64, runs int) Figure {
	for _, k := range p.Summary.Quantiles {
		if k.Q == q && k.Known {
			return Figure{Interval{runs, true, float64(k.Value), float64(k.Low), float64(k.High)}, true}
		}
	}
	return Figure{}
}

// valuesOf are a metric's values by run, where they are known.
func valuesOf(runs map[int]Measurement, m Metric) map[int]float64 {
	out := map[int]float64{}
	for run, x := range runs {
		if v, ok := m.Of(x); ok {
			out[run] = v
		}
	}
	return out
}

// paired is the ratio of other to base over the runs that have both. A percentile that some run lacks is not compared at all: which runs have
// enough samples depends on how fast they were.
func paired(base, other map[int]Measurement, m Metric) Interval {
	bases, others := valuesOf(base, m), valuesOf(other, m)
	var a, b []float64
	for _, run := range slices.Sorted(maps.Keys(base)) {
		if _, both := other[run]; !both {
			continue
		}
		x, okX := bases[run]
		y, okY := others[run]
		switch {
		case okX && okY && x > 0 && y > 0:
			a, b = append(a, x), append(b, y)
		case m.q > 0:
			return Interval{}
		}
	}
	return Ratio(a, b)
}

// Noise is the floor of a metric in a setting: what the reference shows against itself.
func (r Result) Noise(s Setting, m Metric) Noise {
	return noiseOf(paired(r.Find(Cell{r.Grid.Reference(), s}), r.Find(Cell{r.Grid.Again(), s}), m))
}

// Against is a cell over the reference in the same setting. What is measured with one request a key is held against the reference's setting
// that is given.
func (r Result) Against(c Cell, s Setting, m Metric) Effect {
	base := Cell{r.Grid.Reference(), s}
	return judge(paired(r.Find(base), r.Find(c), m), r.Noise(s, m), m.Higher)
}

// OverFloor is a cell over pgbench with the same statements, callers, handler time and commit setting, in the same runs. A key counts as one
// transaction.
func (r Result) OverFloor(c Cell, m Metric) Interval {
	return paired(r.Find(Cell{Floor, c.single()}), r.Find(c), m)
}
