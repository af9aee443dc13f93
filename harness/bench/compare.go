package bench

import (
	"slices"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Limits are how much worse a benchmark may be than another one, as a share of it; nil does not judge.
type Limits struct {
	P99        *float64 // winners' p99: 0.1 lets it grow by a tenth
	Throughput *float64 // keys/s: 0.05 lets it shrink by a twentieth
}

// Change is one metric of one cell in a later benchmark over an earlier one.
type Change struct {
	Cell
	Metric string `json:"metric"`
	Effect Effect `json:"effect"`
	Gate   Gate   `json:"gate,omitzero"`
}

// Gate is a limit on a change. It fails only where the whole interval lies beyond the limit and beyond the noise, and is met only where the
// whole interval lies within the limit; between the two there is too little data.
type Gate struct {
	Status verdict.Status `json:"status"`
	Limit  float64        `json:"limit"`
	Why    string         `json:"why,omitempty"` // of an inconclusive one
}

// Comparison is a later benchmark beside an earlier one.
type Comparison struct {
	Changes []Change `json:"changes"`
	Floor   []Change `json:"floor"`             // pgbench in both: what the machine did
	Missing []string `json:"missing,omitempty"` // cells of only one of the two
}

// compared are the metrics that a comparison shows.
var compared = []Metric{Throughput, WinnerP99}

// Compare holds b against a, cell by cell, in pairs of runs with the same number. The noise is the larger one of the two.
func Compare(a, b Result, limits Limits) Comparison {
	var out Comparison
	cells := append(slices.Clone(b.cells()), a.cells()...)
	var seen []Cell
	for _, c := range cells {
		switch inA, inB := slices.Contains(a.cells(), c), slices.Contains(b.cells(), c); {
		case slices.Contains(seen, c) || c.Series == a.Grid.Again() || c.Series == b.Grid.Again():
		case !inA || !inB:
			out.Missing = append(out.Missing, c.String())
		case c.Series == Floor:
			out.Floor = append(out.Floor, changes(a, b, c)...)
		default:
			out.Changes = append(out.Changes, changes(a, b, c)...)
		}
		seen = append(seen, c)
	}
	for i := range out.Changes {
		out.Changes[i].Gate = limits.gate(out.Changes[i], out.Floor)
	}
	return out
}

// cells are those that something was measured of, in the grid's order.
func (r Result) cells() (out []Cell) {
	for _, c := range r.Grid.Cells() {
		if len(r.Find(c)) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func changes(a, b Result, c Cell) (out []Change) {
	for _, m := range compared {
		noise := a.noiseFor(c, m).wider(b.noiseFor(c, m))
		ratio := paired(a.Find(c), b.Find(c), m)
		out = append(out, Change{Cell: c, Metric: m.Name, Effect: judge(ratio, noise, m.Higher)})
	}
	return out
}

// noiseFor is the floor in a cell's setting; for what is measured once for all duplicates it is that of the fewest.
func (r Result) noiseFor(c Cell, m Metric) Noise {
	if r.Grid.single(c.Series) {
		c.Duplicates = slices.Min(r.Grid.Duplicates)
	}
	return r.Noise(c.Setting, m)
}

// gate judges a change of a strategy; the zero gate is for what is none.
func (l Limits) gate(c Change, floor []Change) Gate {
	limit, worse := l.P99, c.Effect.Ratio
	most := func(limit float64) float64 { return 1 + limit }
	if c.Metric == Throughput.Name {
		limit, worse = l.Throughput, inverse(worse)
		most = func(limit float64) float64 { return 1 / (1 - limit) }
	}
	if limit == nil || c.Series == Unprotected {
		return Gate{}
	}
	return judgeGate(Gate{Limit: *limit}, worse, most(*limit), c.Effect.Noise, machineChanged(c, floor))
}

// judgeGate decides by how many times worse it has become.
func judgeGate(g Gate, worse Interval, most float64, n Noise, machine bool) Gate {
	g.Status = verdict.Inconclusive
	switch {
	case worse.Runs == 0:
		g.Why = "no run has the samples for it"
	case !worse.Known || !n.Known:
		g.Why = "too few runs for an interval"
	case worse.High <= most:
		g.Status = verdict.Held
	case worse.Low <= most:
		g.Why = "the interval reaches over the limit"
	case worse.Low <= n.Reach:
		g.Why = "the interval reaches into the noise"
	case machine:
		g.Why = "pgbench alone has become worse too: the machine has changed"
	default:
		g.Status = verdict.Violated
	}
	return g
}

// inverse turns a ratio round.
func inverse(r Interval) Interval {
	if r.Runs == 0 {
		return r
	}
	out := Interval{Runs: r.Runs, Known: r.Known, Value: 1 / r.Value}
	if r.Known {
		out.Low, out.High = 1/r.High, 1/r.Low
	}
	return out
}

// machineChanged says that pgbench has become worse in the same metric and setting.
func machineChanged(c Change, floor []Change) bool {
	return slices.ContainsFunc(floor, func(f Change) bool {
		return f.Setting == c.single() && f.Metric == c.Metric && f.Effect.Verdict == Worse
	})
}

// Gated says whether any gate was judged, and the gravest status: a gate that failed stands on its own data, whatever others lack.
func (c Comparison) Gated() (judged bool, worst verdict.Status) {
	worst = verdict.Held
	for _, x := range c.Changes {
		switch x.Gate.Status {
		case verdict.NotJudged:
			continue
		case verdict.Violated:
			return true, verdict.Violated
		case verdict.Inconclusive:
			worst = verdict.Inconclusive
		}
		judged = true
	}
	return judged, worst
}
