package reports

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

const (
	barsHeight    = 170
	slowHeight    = 110
	timelineLeft  = 66
	wideColumns   = 120 // bars that fit the wide drawing
	narrowColumns = 48
)

// answerOrder is the order in which bars are stacked, from the ground: what executed, what was replayed, what was refused, what
// is in doubt. Answers that are not in it follow by name.
var answerOrder = []string{
	"fresh", "replay", "in-flight", "previous-failed", "stale", "mismatch", "malformed", "gated", "store-down", "rejected",
	"failed", "", "lost", "unsent",
}

// timeline is what came back over the run, and how slow it was, with the faults as bands.
type timeline struct {
	Answers []answerKey
	slots   []verdict.Slot
	faults  []span
	end     int64
}

// answerKey is one kind of outcome: its name as reports show it and its drawing.
type answerKey struct {
	name        string
	Label, Fill string
	Total       int64
}

// newTimeline is nil where the run has no slots.
func newTimeline(run verdict.Run) *timeline {
	if len(run.Timeline) == 0 {
		return nil
	}
	t := &timeline{slots: run.Timeline, faults: faultSpans(run)}
	totals := map[string]int64{}
	for _, s := range t.slots {
		for name, n := range s.Ended {
			totals[name] += n
		}
		t.end = max(t.end, s.AtNS+s.ForNS)
	}
	for i, name := range answerNames(totals) {
		t.Answers = append(t.Answers, answerKey{name, answerLabel(name), answerFill(name, i), totals[name]})
	}
	return t
}

// answerNames leaves out what never came, so that the legend is as short as it can be.
func answerNames(totals map[string]int64) []string {
	var out []string
	for _, name := range answerOrder {
		if totals[name] > 0 {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(totals)) {
		if totals[name] > 0 && !slices.Contains(answerOrder, name) {
			out = append(out, name)
		}
	}
	return out
}

func answerLabel(name string) string {
	if name == "" {
		return "not in the contract"
	}
	return name
}

// answerFill names the fill of an answer's bars. Each is a colour with a texture of its own, so that two kinds can be told
// apart without colours.
func answerFill(name string, i int) string {
	if name != "" && slices.Contains(answerOrder, name) {
		return "fill-" + name
	}
	return fmt.Sprintf("fill-other%d", i%2)
}

// timelinePlot is one drawing: stacked bars above, a latency line below, one time axis.
type timelinePlot struct {
	Width, Height                  px
	Left, Right                    px
	BarsBottom, SlowTop, SlowFloor px
	Ticks, Counts, Slow            []tick
	Bars                           []plotBar
	Median, Most, Late             string // points of the lines
	Bands                          []band
	BandTop                        px
}

type plotBar struct {
	X, Y, W, H px
	Fill, Tip  string
}

// plot stacks two panels over one time axis: what came back, and how slow it was. The axis has no breaks, since silence in a run is news.
func (t *timeline) plot(width float64, columns int) timelinePlot {
	slots := merge(t.slots, columns)
	p := timelinePlot{Width: px(width), Left: timelineLeft, Right: px(width - 26)}
	axis := newTimeAxis([]int64{0, t.end}, nil, float64(p.Left), float64(p.Right))
	p.bands(t.faults, axis)
	p.BandTop = px(4 + bandLine*len(p.Bands))
	p.BarsBottom = p.BandTop + barsHeight
	p.SlowTop = p.BarsBottom + 26
	p.SlowFloor = p.SlowTop + slowHeight
	p.Height = p.SlowFloor + 24
	p.Ticks = axis.ticks(80)
	p.bars(t, slots, axis)
	p.slow(slots, axis, t.Lateness())
	return p
}

// bands give each fault a line of its own above the panels: their titles must not cover each other.
func (p *timelinePlot) bands(faults []span, axis timeAxis) {
	for i, f := range faults[:min(len(faults), mostBands)] {
		b := newBand(f, axis, float64(p.Width))
		b.TitleY = px(12 + i*bandLine)
		p.Bands = append(p.Bands, b)
	}
}

// bars counts attempts by when they ended, not by when they were sent: a hang shows where it was felt.
func (p *timelinePlot) bars(t *timeline, slots []verdict.Slot, axis timeAxis) {
	highest := int64(1)
	for _, s := range slots {
		highest = max(highest, ended(s))
	}
	scale := (float64(p.BarsBottom-p.BandTop) - 6) / float64(highest)
	for _, n := range []int64{0, highest / 2, highest} {
		p.Counts = append(p.Counts, tick{p.BarsBottom - px(float64(n)*scale), count(n)})
	}
	p.Counts = slices.CompactFunc(p.Counts, func(a, b tick) bool { return a.Label == b.Label })
	for _, s := range slots {
		x0, x1 := axis.at(s.AtNS), axis.at(s.AtNS+s.ForNS)
		y := p.BarsBottom
		for _, a := range t.Answers {
			if n := s.Ended[a.name]; n > 0 {
				h := px(float64(n) * scale)
				y -= h
				tip := a.Label + ": " + count(n) + " in " + duration(time.Duration(s.ForNS)) + " from " + duration(time.Duration(s.AtNS))
				p.Bars = append(p.Bars, plotBar{px(x0), y, px(max(x1-x0-1, 1)), h, a.Fill, tip})
			}
		}
	}
}

// slow skips stretches in which nothing ended: no answer is not a fast answer.
func (p *timelinePlot) slow(slots []verdict.Slot, axis timeAxis, lateness bool) {
	var values []time.Duration
	for _, s := range slots {
		values = append(values, s.P50, s.Max, s.Late)
	}
	y := newLogAxis(values, float64(p.SlowFloor), float64(p.SlowTop))
	p.Slow = y.ticks()
	var median, most, late strings.Builder
	for _, s := range slots {
		if x := axis.at(s.AtNS + s.ForNS/2); s.Max > 0 {
			fmt.Fprintf(&median, "%.1f,%.1f ", x, y.at(max(s.P50, 1)))
			fmt.Fprintf(&most, "%.1f,%.1f ", x, y.at(s.Max))
		}
		if x := axis.at(s.AtNS + s.ForNS/2); lateness && s.Late > 0 {
			fmt.Fprintf(&late, "%.1f,%.1f ", x, y.at(s.Late))
		}
	}
	p.Late = strings.TrimSpace(late.String())
	p.Median, p.Most = strings.TrimSpace(median.String()), strings.TrimSpace(most.String())
}

func ended(s verdict.Slot) (n int64) {
	for _, v := range s.Ended {
		n += v
	}
	return n
}

// merge joins neighbouring slots until at most n are left. A median cannot be joined: the highest stands for all.
func merge(slots []verdict.Slot, n int) []verdict.Slot {
	each := int(math.Ceil(float64(len(slots)) / float64(n)))
	var out []verdict.Slot
	for group := range slices.Chunk(slots, max(each, 1)) {
		m := verdict.Slot{AtNS: group[0].AtNS, Ended: map[string]int64{}}
		for _, s := range group {
			m.ForNS = s.AtNS + s.ForNS - m.AtNS
			m.P50, m.Max, m.Late = max(m.P50, s.P50), max(m.Max, s.Max), max(m.Late, s.Late)
			for k, v := range s.Ended {
				m.Ended[k] += v
			}
		}
		out = append(out, m)
	}
	return out
}

// Wide and Narrow are the two drawings of the timeline.
func (t *timeline) Wide() timelinePlot { return t.plot(wideWidth, wideColumns) }

// Narrow is the drawing for small windows.
func (t *timeline) Narrow() timelinePlot { return t.plot(narrowWidth, narrowColumns) }

// Lateness says that the generator's lateness was recorded.
func (t *timeline) Lateness() bool {
	return slices.ContainsFunc(t.slots, func(s verdict.Slot) bool { return s.Late > 0 })
}

// Faults are the bands of the drawing by name, for a legend that links to the faults table.
func (t *timeline) Faults() []span { return t.faults }

// Alternative is the timeline in words.
func (t *timeline) Alternative() string {
	var parts []string
	for _, a := range t.Answers {
		parts = append(parts, a.Label+" "+count(a.Total))
	}
	for _, f := range t.faults {
		parts = append(parts, "fault "+f.Title()+" "+f.interval())
	}
	return "Attempts that ended over " + duration(time.Duration(t.end)) + ", by outcome: " + sentence(", ", parts...) + "."
}

// slotRow is one line of the timeline's data table.
type slotRow struct {
	At, Median, Most, Late string
	Counts                 []string
}

// Rows is the timeline as a table.
func (t *timeline) Rows() []slotRow {
	var out []slotRow
	for _, s := range merge(t.slots, mostTableRow) {
		row := slotRow{At: duration(time.Duration(s.AtNS)), Median: dash, Most: dash, Late: dash}
		if s.Max > 0 {
			row.Median, row.Most = duration(s.P50), duration(s.Max)
		}
		if s.Late > 0 {
			row.Late = duration(s.Late)
		}
		for _, a := range t.Answers {
			row.Counts = append(row.Counts, count(s.Ended[a.name]))
		}
		out = append(out, row)
	}
	return out
}
