package reports

import (
	"slices"
	"strconv"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// Sizes of the drawing of a schedule.
const (
	lineHeight   = 16
	railWidth    = 26 // of a lane in the narrow drawing, which has its text beside all lanes
	gap          = 8  // between moments
	numberColumn = 34 // in a box of the wide drawing
	sqlRows      = 3  // of one statement in a box
	mostSQL      = 8  // statements of one step that are drawn; the table has all
	narrowBox    = 22
)

// orderDrawing shows in which order the statements of several actors reached the database: one lane an actor, time running down.
// Wide, a statement stands in its lane; narrow, a lane is a rail with the step's number, and all text stands beside the rails.
type orderDrawing struct {
	Width, Height px
	Bands         []area // behind the moment that made it wrong
	Lifelines     []lifeline
	Stretches     []area // in which an actor waits inside the database
	Boxes         []stepBox
	Chips         []area // behind answers
	Labels        []caption
}

type area struct {
	X, Y, W, H px
	Class      string
}

type lifeline struct{ X, FromX, Y1, Y2 px }

type stepBox struct {
	area
	Tip     string
	Number  string
	NumberX px
	NumberY px
}

// caption is one line of text. Head begins it in bold.
type caption struct {
	X, Y       px
	Anchor     string
	Class      string
	Head, Text string
}

// line is one line of a box before it has its place; Right stands at the other edge.
type line struct {
	Class, Head, Text, Right string
}

// pen draws a tale from top to bottom.
type pen struct {
	*orderDrawing
	tale    *tale
	wide    bool
	y       float64
	cursors []float64       // of each lane; a narrow drawing uses the first alone
	waits   map[int]float64 // since where an actor waits
	ends    map[int]float64 // where an actor has its answer
}

func newOrderDrawing(t *tale, width float64) orderDrawing {
	d := orderDrawing{Width: px(width)}
	p := pen{orderDrawing: &d, tale: t, wide: width > narrowWidth, cursors: make([]float64, max(1, len(t.Actors))), waits: map[int]float64{}, ends: map[int]float64{}}
	starts := p.heads()
	for _, m := range t.Moments {
		p.moment(m)
	}
	for actor := range t.Actors {
		p.stopWaiting(actor, p.y)
		end, answered := p.ends[actor]
		if !answered {
			end = p.y
		}
		middle := px(p.boxX(actor) + p.numberAt())
		d.Lifelines = append(d.Lifelines, lifeline{X: middle, FromX: middle, Y1: px(starts[actor]), Y2: px(end)})
	}
	d.Height = px(p.y)
	return d
}

func (p *pen) boxX(actor int) float64 {
	if p.wide {
		return float64(actor)*float64(p.Width)/float64(len(p.tale.Actors)) + 6
	}
	return 2 + railWidth*float64(actor)
}

func (p *pen) boxWidth() float64 {
	if p.wide {
		return float64(p.Width)/float64(len(p.tale.Actors)) - 12
	}
	return narrowBox
}

func (p *pen) textX(actor int) float64 {
	if p.wide {
		return p.boxX(actor) + numberColumn
	}
	return railWidth*float64(len(p.tale.Actors)) + gap
}

// numberAt is where a box has its number and a lane its line, from the box's edge.
func (p *pen) numberAt() float64 {
	if p.wide {
		return numberColumn/2 - 2
	}
	return narrowBox / 2
}

// room is how many characters fit from textX on.
func (p *pen) room() int {
	if p.wide {
		return int((p.boxWidth() - numberColumn - 6) / glyphWidth)
	}
	return int((float64(p.Width) - p.textX(0) - 2) / glyphWidth)
}

// heads names the lanes, and says where each begins.
func (p *pen) heads() (starts []float64) {
	for actor, name := range p.tale.Actors {
		p.y = 14
		x, end := p.boxX(actor), p.y+6
		if !p.wide {
			p.y += float64(lineHeight * actor)
			middle := x + narrowBox/2
			p.Lifelines = append(p.Lifelines, lifeline{X: px(p.textX(0) - 4), FromX: px(middle), Y1: px(p.y - 4), Y2: px(p.y - 4)})
			x, end = p.textX(0), p.y-4
		}
		p.Labels = append(p.Labels, caption{X: px(x), Y: px(p.y), Head: cut(name, p.room())})
		starts = append(starts, end)
	}
	p.y += 14
	return starts
}

// moment draws the released step, then beside or below it what followed.
func (p *pen) moment(m moment) {
	bottom := p.box(m)
	for lane := range p.cursors {
		p.cursors[lane] = bottom + 4
	}
	for _, e := range m.Others() {
		p.resumed(e)
	}
	for actor := range p.tale.Actors {
		if !slices.Contains(m.Waiting, actor) {
			p.stopWaiting(actor, bottom)
		} else if _, waits := p.waits[actor]; !waits {
			p.waits[actor] = bottom
		}
	}
	for _, w := range m.Waits {
		p.waiting(w)
	}
	for _, a := range m.Answers {
		p.answer(a)
	}
	p.y = slices.Max(p.cursors) + gap
}

func (p *pen) box(m moment) (bottom float64) {
	lines := p.lines(m)
	height := float64(lineHeight*len(lines) + 8)
	x, y := p.boxX(m.Actor), p.y
	class := "step " + string(m.Step.Kind)
	if m.Marked {
		class += " breaks"
		p.Bands = append(p.Bands, area{X: 0, Y: px(y - 4), W: p.Width, H: px(height + 8)})
	}
	b := stepBox{area: area{X: px(x), Y: px(y), W: px(p.boxWidth()), H: px(height), Class: class}, Tip: m.Tip(), Number: strconv.Itoa(m.Number)}
	b.NumberX, b.NumberY = px(x+p.numberAt()), px(y+lineHeight)
	p.Boxes = append(p.Boxes, b)
	for i, l := range lines {
		at := px(y + float64(lineHeight*(i+1)))
		p.Labels = append(p.Labels, caption{X: px(p.textX(m.Actor)), Y: at, Class: l.Class, Head: l.Head, Text: l.Text})
		if l.Right != "" {
			p.Labels = append(p.Labels, caption{X: px(p.textX(m.Actor) + float64(p.room())*glyphWidth), Y: at, Anchor: "end", Class: "soft", Text: l.Right})
		}
	}
	return y + height
}

// lines are the text of a step: who, where the lane does not say so; the statements; what came of them.
func (p *pen) lines(m moment) (out []line) {
	if !p.wide {
		out = append(out, line{Class: "soft", Text: cut(m.Who, p.room())})
	}
	statements, told := p.statements(m)
	out = append(out, statements...)
	for _, param := range m.Step.Params {
		out = append(out, line{Class: "soft", Text: cut(param, p.room())})
	}
	if own := m.Own(); own != nil && (!told || own.Bad) {
		for i, text := range p.wrapped("→ "+m.Did(), 2) {
			l := line{Class: "soft", Text: text}
			if own.Bad {
				l = line{Class: "bad", Head: text}
			}
			if i > 0 {
				l.Text = "  " + cut(l.Text, p.room()-2)
			}
			out = append(out, l)
		}
	}
	if m.Marked {
		out = append(out, line{Class: "bad", Head: cut("✗ this makes it wrong", p.room())})
	}
	return out
}

func (p *pen) wrapped(text string, lines int) []string { return wrapped(text, p.room(), lines) }

// statements draws one statement in a few lines, and of several each in one, with its own result beside it; told says that it is.
func (p *pen) statements(m moment) (out []line, told bool) {
	short := shortSQL(m.Step.SQL)
	switch {
	case m.Step.Kind == schedule.Commit:
		out = []line{{Head: cut(m.commits(), p.room())}}
		if len(short) > 0 {
			out = append(out, line{Class: "soft", Text: cut(strings.Join(short, "; "), p.room())})
		}
		return out, false
	case len(short) == 1:
		for i, text := range p.wrapped(short[0], sqlRows) {
			l := line{Text: text}
			if head := headOf(short[0]); i == 0 && strings.HasPrefix(text, head) {
				l.Head, l.Text = head, text[len(head):]
			}
			out = append(out, l)
		}
		return out, false
	}
	own := m.Own()
	told = own != nil && len(own.Tags) == len(short) && len(short) <= mostSQL
	for i, s := range short[:min(len(short), mostSQL)] {
		l := line{}
		if told {
			l.Right = cut(own.Tags[i], p.room()/2)
		}
		text := cut(s, p.room()-len([]rune(l.Right))-1)
		l.Head = headOf(text)
		l.Text = text[len(l.Head):]
		out = append(out, l)
	}
	return out, told
}

// below takes room in an actor's lane under the box of the moment.
func (p *pen) below(actor int, height float64) (y float64) {
	if !p.wide {
		actor = 0
	}
	y = p.cursors[actor]
	p.cursors[actor] += height
	return y
}

// resumed is a step that went on when what it waited for was released.
func (p *pen) resumed(e ending) {
	text := "step " + strconv.Itoa(e.Number) + " goes on → " + e.Text
	if !p.wide {
		text = p.tale.Actors[e.Actor] + ": " + text
	}
	lines := p.wrapped(text, 2)
	height := float64(lineHeight*len(lines) + 8)
	y := p.below(e.Actor, height+4)
	p.stopWaiting(e.Actor, y)
	p.Boxes = append(p.Boxes, stepBox{area: area{X: px(p.boxX(e.Actor)), Y: px(y), W: px(p.boxWidth()), H: px(height), Class: "step resumed"}, Tip: text})
	class := "soft"
	if e.Bad {
		class = "bad"
	}
	for i, l := range lines {
		p.Labels = append(p.Labels, caption{X: px(p.textX(e.Actor)), Y: px(y + float64(lineHeight*(i+1))), Class: class, Text: l})
	}
}

func (p *pen) stopWaiting(actor int, y float64) {
	if from, waits := p.waits[actor]; waits {
		p.Stretches = append(p.Stretches, area{X: px(p.boxX(actor)), Y: px(from), W: px(p.boxWidth()), H: px(max(0, y-from))})
		delete(p.waits, actor)
	}
}

// waiting says for whom, on the stretch itself where there is room.
func (p *pen) waiting(w waiting) {
	text := w.For
	if !p.wide {
		text = w.Who + " " + w.For
	}
	lines := p.wrapped(text, 2)
	y := p.below(w.Actor, float64(lineHeight*len(lines)+gap))
	longest := 0.0
	for i, line := range lines {
		p.Labels = append(p.Labels, caption{X: px(p.textX(w.Actor)), Y: px(y + float64(lineHeight*(i+1))), Head: line})
		longest = max(longest, textWidth(line))
	}
	if p.wide {
		p.Chips = append(p.Chips, area{X: px(p.textX(w.Actor) - gap), Y: px(y + 2), W: px(longest + 2*gap), H: px(lineHeight*len(lines) + 4), Class: "plate"})
	}
}

// answer ends a lane.
func (p *pen) answer(a answer) {
	x, text := p.boxX(a.Actor)+gap, a.Text
	y := p.below(a.Actor, lineHeight+12)
	if !p.wide {
		p.Chips = append(p.Chips, area{X: px(p.boxX(a.Actor)), Y: px(y + 4), W: narrowBox, H: lineHeight + 4, Class: "box " + a.Class})
		x, text = p.textX(a.Actor), a.Who+": "+text
	}
	text = cut(text, p.room())
	p.ends[a.Actor] = y + 4
	p.Chips = append(p.Chips, area{X: px(x - gap), Y: px(y + 4), W: px(textWidth(text) + 2*gap), H: lineHeight + 4, Class: "box " + a.Class})
	p.Labels = append(p.Labels, caption{X: px(x), Y: px(y + 2 + lineHeight), Class: "inbox " + a.Class, Head: text})
}
