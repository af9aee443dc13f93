package reports

import (
	"slices"
	"strconv"

	"github.com/idemstorm/idemstorm/harness/history"
)

// Widths of the two drawings that each chart has: the page shows the one that fits its window, so that text stays readable.
const (
	wideWidth   = 1080
	narrowWidth = 350
)

const (
	mostLanes  = 16 // operations that are drawn; the table has all
	mostBands  = 6
	laneHeight = 54
	boxTop     = 22 // from the lane's top
	boxHeight  = 22
	bandLine   = 16 // height of one fault's title
	edge       = 8  // left and right of the time axis
)

// lanes is the drawing of a counterexample: one lane an operation, time running to the right, a box from sent to done.
type lanes struct {
	Width, Height px
	Top, Bottom   px // of the time axis's area
	Ticks, Breaks []tick
	Bands         []band
	Lanes         []lane
	Undrawn       int // operations beyond mostLanes
}

type band struct {
	X, W, TitleX, TitleY px
	Anchor, Title        string
}

type lane struct {
	Y, LineY px
	Title    string
	Boxes    []box
}

type box struct {
	X, Y, W, H   px
	Due, DueY    px   // where the intended mark stands
	Waited       bool // it was sent visibly later than intended
	Class        string
	Cited, Lost  bool
	End          px // where the open end of a lost attempt's arrow is
	Text, Anchor string
	Inside       bool // the text stands in the box
	TextX, TextY px
	Tip          string
	right        float64
}

// newLanes draws what fits the width.
func newLanes(e example, width float64) lanes {
	groups := e.operations()
	l := lanes{Width: px(width)}
	if len(groups) > mostLanes {
		l.Undrawn = len(groups) - mostLanes
		groups = groups[:mostLanes]
	}
	axis := lanesAxis(groups, width)
	l.bands(e, axis)
	top := float64(l.Top)
	for i, g := range groups {
		l.Lanes = append(l.Lanes, newLane(g, axis, top+float64(i*laneHeight), width))
	}
	l.Bottom = px(top + float64(len(groups)*laneHeight))
	l.Height = l.Bottom + 34
	l.Ticks, l.Breaks = axis.ticks(84), axis.breaks(84)
	return l
}

// operations groups the attempts by operation, in the order of first sending.
func (e example) operations() [][]attempt {
	var out [][]attempt
	place := map[int64]int{}
	for _, a := range e.Attempts {
		i, ok := place[a.Op]
		if !ok {
			i = len(out)
			place[a.Op] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], a)
	}
	return out
}

// lanesAxis takes the faults no part in the scale: a fault may last a thousand times longer than what it did to a request.
func lanesAxis(groups [][]attempt, width float64) timeAxis {
	var points []int64
	var busy []period
	for _, a := range slices.Concat(groups...) {
		points = append(points, a.IntendedNS, a.SentNS, a.DoneNS)
		busy = append(busy, period{a.SentNS, a.DoneNS})
	}
	return newTimeAxis(points, busy, edge, width-edge)
}

// bands places the faults behind the lanes, each with a line of its own for its title.
func (l *lanes) bands(e example, axis timeAxis) {
	for i, f := range e.Faults[:min(len(e.Faults), mostBands)] {
		b := newBand(f, axis, float64(l.Width))
		b.TitleY = px(12 + i*bandLine)
		l.Bands = append(l.Bands, b)
	}
	l.Top = px(4 + len(l.Bands)*bandLine)
}

// newBand keeps a title inside the drawing: it starts at the band's left edge, or ends at the right edge of the drawing.
func newBand(f span, axis timeAxis, width float64) band {
	x0, x1 := axis.at(f.FromNS), axis.at(f.UntilNS)
	title := elide("fault "+f.Title(), int((width-8)/glyphWidth))
	b := band{X: px(x0), W: px(max(x1-x0, 2)), TitleX: px(x0 + 2), Anchor: "start", Title: title}
	if x0+textWidth(title) > width-4 {
		b.TitleX, b.Anchor = px(width-4), "end"
	}
	return b
}

// newLane places the boxes first, since a label may use the room up to its neighbours.
func newLane(attempts []attempt, axis timeAxis, y, width float64) lane {
	first := attempts[0]
	l := lane{Y: px(y), LineY: px(y + boxTop + boxHeight/2), Title: laneTitle(first, width-8)}
	for _, a := range attempts {
		l.Boxes = append(l.Boxes, newBox(a, axis, y, width))
	}
	for i := range l.Boxes {
		free := [2]float64{0, width}
		if i > 0 {
			free[0] = l.Boxes[i-1].right
		}
		if i < len(l.Boxes)-1 {
			free[1] = float64(l.Boxes[i+1].X)
		}
		l.Boxes[i].label(attempts[i], len(attempts) > 1, free)
	}
	return l
}

// laneTitle says who sent what; where there is no room for all, the table has the rest.
func laneTitle(a attempt, room float64) string {
	who := "op " + strconv.FormatInt(a.Op, 10) + " · client " + strconv.Itoa(a.Operation.Client) + " · replica " + strconv.Itoa(a.Replica)
	for _, t := range []string{who + " · " + a.Asked(), who + " · " + a.Operation.Request} {
		if textWidth(t) <= room {
			return t
		}
	}
	return elide(who, int(room/glyphWidth))
}

// newBox keeps a box visible, and its border within, however short the request was.
func newBox(a attempt, axis timeAxis, y, width float64) box {
	x0, x1 := axis.at(a.SentNS), axis.at(a.DoneNS)
	due := axis.at(a.IntendedNS)
	return box{
		X: px(x0), Y: px(y + boxTop), W: px(max(x1-x0, 4)), H: boxHeight, End: px(width - edge),
		Due: px(due), DueY: px(y + boxTop), Waited: x0-due > 3,
		Class: a.Class, Cited: a.Cited, Lost: a.Outcome == history.Lost,
		TextY: px(y + boxTop + boxHeight - 7), Tip: a.words(), right: max(x1, x0+4),
	}
}

// label puts the text inside its box where it fits, else to the right or left of it; where there is no room at all the
// table tells.
func (b *box) label(a attempt, several bool, free [2]float64) {
	text := a.Label
	if several {
		text = "#" + strconv.Itoa(a.N) + " " + text
	}
	for _, t := range []string{text, "#" + strconv.Itoa(a.N)} {
		need := textWidth(t) + 8
		b.Text, b.Anchor = t, "start"
		switch {
		case float64(b.W) >= need:
			b.TextX, b.Inside = b.X+5, true
			return
		case free[1]-b.right >= need:
			b.TextX = px(b.right + 5)
			return
		case float64(b.X)-free[0] >= need:
			b.TextX, b.Anchor = b.X-5, "end"
			return
		}
	}
	b.Text = ""
}

// words is one attempt in a sentence, for the text alternative.
func (a attempt) words() string {
	s := "op " + strconv.FormatInt(a.Op, 10) + " attempt " + strconv.Itoa(a.N) + " sent at " + millis(a.SentNS) + " ms"
	if a.Outcome == history.Returned {
		return s + ", done at " + millis(a.DoneNS) + " ms: " + a.Label
	}
	return s + ", given up at " + millis(a.DoneNS) + " ms: " + a.Label
}

// Alternative is the drawing in words.
func (e example) Alternative() string {
	var parts []string
	for _, a := range e.Attempts {
		parts = append(parts, a.words())
	}
	for _, f := range e.Faults {
		parts = append(parts, "fault "+f.Title()+" "+f.interval())
	}
	return clip("The operations of this counterexample on a time axis. "+sentence(". ", parts...)+".", longest)
}

// Wide and Narrow are the two drawings of a counterexample.
func (e example) Wide() lanes { return newLanes(e, wideWidth) }

// Narrow is the drawing for small windows.
func (e example) Narrow() lanes { return newLanes(e, narrowWidth) }

// classKey explains one look of the boxes.
type classKey struct{ Class, Text string }

// classTexts is the legend of the lanes, in order.
var classTexts = []classKey{
	{"fresh", "fresh: it executed"},
	{"replay", "replay: the stored answer again"},
	{"conflict", "refused for the key's state: in flight, failed before, stale or another body"},
	{"refused", "refused before any claim or by the action"},
	{"failed", "5xx: failed, or its outcome is not known"},
	{"lost", "lost: no answer, its effect may come later"},
	{"unsent", "not sent"},
	{"other", "an answer that the contract does not know"},
}

// Classes is the legend: the looks that the drawing has.
func (e example) Classes() []classKey {
	var out []classKey
	for _, k := range classTexts {
		if slices.ContainsFunc(e.Attempts, func(a attempt) bool { return a.Class == k.Class }) {
			out = append(out, k)
		}
	}
	return out
}

// HasBreaks says that either drawing has a stretch that is shorter than it should be.
func (e example) HasBreaks() bool { return len(e.Wide().Breaks) > 0 }

// Anchor keeps a label near an edge inside the drawing.
func (l lanes) Anchor(x px) string {
	switch {
	case x < 30:
		return "start"
	case x > l.Width-30:
		return "end"
	}
	return "middle"
}
