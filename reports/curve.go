package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

const (
	mostCurves   = 24 // groups that get a drawing
	curveHeight  = 220
	curveLeft    = 66
	mostTableRow = 80 // of a drawing's data table
)

// curve is the percentile curve of one group: its kinds of time as lines over a percentile axis that is logarithmic towards 1.
type curve struct {
	Group  string
	Series []latency.Summary
	limits []limit
}

// limit is a gate that speaks of a percentile of this group.
type limit struct {
	q     float64
	value time.Duration
	text  string
}

// curves gathers the series that have points, by group, in the order of the run.
func curves(run verdict.Run) []curve {
	var out []curve
	for _, s := range run.Latency {
		if len(s.Curve) < 2 {
			continue
		}
		i := slices.IndexFunc(out, func(c curve) bool { return c.Group == s.Group })
		if i < 0 {
			i = len(out)
			out = append(out, curve{Group: s.Group})
		}
		out[i].Series = append(out[i].Series, s)
		out[i].limits = append(out[i].limits, limits(s, run.Verdict.Gates)...)
	}
	return out[:min(len(out), mostCurves)]
}

// limits finds the gates of a series by their name, which is "group kind percentile".
func limits(s latency.Summary, gates []verdict.Gate) []limit {
	var out []limit
	for _, g := range gates {
		for _, q := range shownQuantiles {
			if g.Name == s.Group+" "+string(s.Kind)+" "+percentile(q) {
				out = append(out, limit{q, g.Limit, "limit " + duration(g.Limit)})
			}
		}
	}
	return out
}

// curvePlot is one drawing of a curve.
type curvePlot struct {
	Width, Height            px
	Left, Right, Top, Bottom px
	X, Y                     []tick
	Lines                    []plotLine
	Limits                   []plotLimit
}

type plotLine struct {
	Class, Points  string
	Label          string
	LabelX, LabelY px
}

type plotLimit struct {
	X, Y, TextX px
	Anchor      string
	Text        string
}

// plot scales both axes to the data and the limits, so that a limit far above the curve is still seen.
func (c curve) plot(width float64) curvePlot {
	p := curvePlot{Width: px(width), Height: curveHeight + 40, Left: curveLeft, Right: px(width - 12), Top: 10, Bottom: curveHeight}
	var values []time.Duration
	far := 1.0
	for _, s := range c.Series {
		for _, pt := range s.Curve {
			values = append(values, pt.Value)
			far = max(far, nines(pt.Q))
		}
	}
	for _, l := range c.limits {
		values = append(values, l.value)
		far = max(far, nines(l.q))
	}
	y := newLogAxis(values, float64(p.Bottom), float64(p.Top))
	x := func(q float64) float64 { return float64(p.Left) + float64(p.Right-p.Left)*nines(q)/far }
	p.Y = y.ticks()
	for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999} {
		if nines(q) <= far {
			p.X = append(p.X, tick{px(x(q)), percentile(q)})
		}
	}
	for _, s := range c.Series {
		p.Lines = append(p.Lines, newPlotLine(s, x, y))
	}
	for _, l := range c.limits {
		p.Limits = append(p.Limits, newPlotLimit(l, p, px(x(l.q)), px(y.at(l.value))))
	}
	return p
}

// newPlotLine connects the points as recorded: nothing is smoothed, and nothing drawn beyond the last supported percentile.
func newPlotLine(s latency.Summary, x func(float64) float64, y logAxis) plotLine {
	var b strings.Builder
	for _, pt := range s.Curve {
		fmt.Fprintf(&b, "%.1f,%.1f ", x(pt.Q), y.at(pt.Value))
	}
	return plotLine{Class: kindClass(s.Kind), Points: strings.TrimSpace(b.String()), Label: string(s.Kind)}
}

// newPlotLimit writes the text left of the mark, or right of it where the axis is too near.
func newPlotLimit(l limit, p curvePlot, x, y px) plotLimit {
	out := plotLimit{X: x, Y: y, TextX: x - 6, Anchor: "end", Text: l.text}
	if float64(x-p.Left) < textWidth(l.text)+8 {
		out.TextX, out.Anchor = x+8, "start"
	}
	return out
}

// kindClass is the drawing class of a kind of time; an unknown one is drawn like lateness.
func kindClass(k latency.Kind) string {
	switch k {
	case latency.Response, latency.Service:
		return string(k)
	}
	return "lateness"
}

// nines is a percentile's place on the axis: 0.9 → 1, 0.99 → 2. The end is bounded at 7.
func nines(q float64) float64 {
	if math.IsNaN(q) || q <= 0 {
		return 0
	}
	return min(7, -math.Log10(max(1-q, 1e-7)))
}

// Wide and Narrow are the two drawings of a curve.
func (c curve) Wide() curvePlot { return c.plot(wideWidth) }

// Narrow is the drawing for small windows.
func (c curve) Narrow() curvePlot { return c.plot(narrowWidth) }

// Alternative is the curve in words.
func (c curve) Alternative() string {
	var parts []string
	for _, s := range c.Series {
		part := string(s.Kind) + " time"
		for _, q := range shownQuantiles {
			part += ", " + percentile(q) + " " + quantileText(s, q)
		}
		parts = append(parts, part+", maximum "+most(s))
	}
	for _, l := range c.limits {
		parts = append(parts, percentile(l.q)+" has the "+l.text)
	}
	return "Percentile curve of " + c.Group + ": " + sentence("; ", parts...) + "."
}

// curveRow is one percentile of a curve's data table.
type curveRow struct {
	Percentile string
	Values     []string
}

// Rows is the curve as a table: one line a percentile, one column a series, thinned where there are many points.
func (c curve) Rows() []curveRow {
	qs := map[float64]bool{}
	for _, s := range c.Series {
		for _, pt := range s.Curve {
			qs[pt.Q] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(qs))
	every := (len(sorted) + mostTableRow - 1) / mostTableRow
	var out []curveRow
	for i, q := range sorted {
		if i%max(every, 1) != 0 && i != len(sorted)-1 {
			continue
		}
		row := curveRow{Percentile: percentile(q)}
		for _, s := range c.Series {
			row.Values = append(row.Values, pointText(s.Curve, q))
		}
		out = append(out, row)
	}
	return out
}

// pointText compares exactly, since the series of a group come with the same percentiles or with others.
func pointText(points []latency.Point, q float64) string {
	i := slices.IndexFunc(points, func(p latency.Point) bool { return cmp.Compare(p.Q, q) == 0 })
	if i < 0 {
		return dash
	}
	return duration(points[i].Value)
}
