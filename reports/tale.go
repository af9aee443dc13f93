package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// tale is a schedule as it is told: by drawings, by the table, and in words.
type tale struct {
	Actors  []string
	Moments []moment
	Outcome schedule.Outcome
}

// moment is one released step and everything that followed before the next was released.
type moment struct {
	Number   int
	Actor    int
	Who      string
	Step     schedule.Step
	Of       int // the step that it commits
	Switched bool
	Marked   bool
	Ends     []ending
	Waits    []waiting // who begins to wait, or waits for others than before
	Waiting  []int     // the actors that wait when all stand still
	Answers  []answer
}

// ending is how a step ended; Number is that of the moment that it was released in.
type ending struct {
	Actor, Number int
	Own           bool // it is the moment's own step
	Tags          []string
	Text          string
	Bad           bool
}

type waiting struct {
	Actor int
	Who   string
	For   string
}

type answer struct {
	Actor       int
	Who         string
	Class, Text string
}

// newTale expects a presentable schedule.
func newTale(s *schedule.Schedule) *tale {
	t := &tale{Actors: s.Actors, Outcome: s.Outcome}
	var before []schedule.Blocked
	for i, taken := range s.Steps {
		m := moment{
			Number: i + 1, Actor: taken.Step.Actor, Who: s.Actors[taken.Step.Actor], Step: taken.Step,
			Switched: taken.Switch, Marked: i == s.Violating(),
		}
		if taken.Step.Kind == schedule.Commit {
			m.Of = releasedAt(s.Steps[:i], func(e schedule.Step) bool {
				return e.Kind == schedule.Execute && e.Actor == taken.Step.Actor && e.Conn == taken.Step.Conn
			})
		}
		for _, e := range taken.Ended {
			m.Ends = append(m.Ends, newEnding(s, i, e))
		}
		m.wait(s, before, taken.Blocked)
		for _, a := range taken.Answers {
			m.Answers = append(m.Answers, newAnswer(s, a))
		}
		before = taken.Blocked
		t.Moments = append(t.Moments, m)
	}
	return t
}

// releasedAt is the number of the last step that is meant, or 0.
func releasedAt(steps []schedule.Taken, meant func(schedule.Step) bool) int {
	for i, taken := range slices.Backward(steps) {
		if meant(taken.Step) {
			return i + 1
		}
	}
	return 0
}

func newEnding(s *schedule.Schedule, at int, e schedule.Ended) ending {
	out := ending{Actor: e.Step.Actor, Number: releasedAt(s.Steps[:at+1], e.Step.Same), Tags: e.Tags}
	out.Own = out.Number == at+1
	switch {
	case e.Code != "":
		out.Text, out.Bad = "error "+e.Code, true
	case e.End != "answered":
		out.Text, out.Bad = e.End, true
	case len(e.Tags) == 0:
		out.Text = "ok"
	default:
		out.Text = strings.Join(e.Tags, ", ")
	}
	return out
}

// wait notes who stands blocked, and says it once for as long as it stays the same.
func (m *moment) wait(s *schedule.Schedule, before, now []schedule.Blocked) {
	for _, b := range now {
		m.Waiting = append(m.Waiting, b.Step.Actor)
		same := func(c schedule.Blocked) bool { return c.Step.Same(b.Step) && slices.Equal(c.On, b.On) }
		if !slices.ContainsFunc(before, same) {
			m.Waits = append(m.Waits, waiting{Actor: b.Step.Actor, Who: s.Actors[b.Step.Actor], For: waitsFor(s.Actors, b.On)})
		}
	}
}

func waitsFor(actors []string, on []int) string {
	if len(on) == 0 {
		return "waits for a lock"
	}
	names := make([]string, len(on))
	for i, actor := range on {
		names[i] = actors[actor]
	}
	return "waits for " + strings.Join(names, ", ")
}

// answerClasses are the fills of answers; what is not here is told apart by its text alone.
var answerClasses = map[string]string{
	"fresh": "fresh", "done": "fresh", "replay": "replay", "in-flight": "conflict", "previous-failed": "conflict", "stale": "conflict",
	"mismatch": "conflict", "store-down": "refused", "gated": "refused", "rejected": "refused", "malformed": "refused", "failed": "failed", "lost": "lost",
}

func newAnswer(s *schedule.Schedule, a schedule.Answer) answer {
	out := answer{Actor: a.Actor, Who: s.Actors[a.Actor], Class: answerClasses[a.Class], Text: a.Class}
	if out.Class == "" {
		out.Class = "other"
	}
	if a.Status != 0 {
		out.Text = fmt.Sprintf("%d %s", a.Status, a.Class)
	}
	return out
}

// Own is how the moment's own step ended, if it did before the next was released.
func (m moment) Own() *ending {
	for i := range m.Ends {
		if m.Ends[i].Own {
			return &m.Ends[i]
		}
	}
	return nil
}

// Others are the earlier steps that ended here, because what they waited for was released.
func (m moment) Others() (out []ending) {
	for _, e := range m.Ends {
		if !e.Own {
			out = append(out, e)
		}
	}
	return out
}

// Did says in the table what became of the step.
func (m moment) Did() string {
	own := m.Own()
	switch {
	case own == nil && slices.Contains(m.Waiting, m.Actor):
		return "waits"
	case own == nil:
		return dash
	case m.Step.Kind == schedule.Execute && !own.Bad:
		return own.Text + ", not committed yet"
	}
	return own.Text
}

// What names the step's statement.
func (m moment) What() string {
	if m.Step.Kind == schedule.Commit {
		return sentence(": ", m.commits(), schedule.OneLine(m.Step.SQL))
	}
	return schedule.OneLine(m.Step.SQL)
}

func (m moment) commits() string {
	if m.Of == 0 {
		return "commits"
	}
	return fmt.Sprintf("commits step %d", m.Of)
}

// Tip is everything about a step, for those who point at it.
func (m moment) Tip() string {
	return sentence(" · ", fmt.Sprintf("step %d, %s, connection %d", m.Number, m.Who, m.Step.Conn), m.What(), strings.Join(m.Step.Params, ", "), "→ "+m.Did())
}

// Breaks tells whether a moment is marked.
func (t *tale) Breaks() bool {
	return slices.ContainsFunc(t.Moments, func(m moment) bool { return m.Marked })
}

// Classes are the fills of the answers with what they stand for, each once.
func (t *tale) Classes() (out []answer) {
	for _, m := range t.Moments {
		for _, a := range m.Answers {
			if !slices.ContainsFunc(out, func(b answer) bool { return b.Text == a.Text }) {
				out = append(out, a)
			}
		}
	}
	return out
}

// Alternative is the schedule in words.
func (t *tale) Alternative() string {
	var parts []string
	for _, m := range t.Moments {
		parts = append(parts, fmt.Sprintf("step %d, %s: %s, %s", m.Number, m.Who, cut(strings.Join(shortSQL(m.Step.SQL), "; "), 60), m.Did()))
		for _, w := range m.Waits {
			parts = append(parts, w.Who+" "+w.For)
		}
		for _, a := range m.Answers {
			parts = append(parts, a.Who+" is answered "+a.Text)
		}
		if m.Marked {
			parts = append(parts, "this makes it wrong")
		}
	}
	return clip("The statements in the order in which they reached the database. "+strings.Join(parts, ". ")+".", longest)
}

// Wide and Narrow are the two drawings of a schedule.
func (t *tale) Wide() orderDrawing { return newOrderDrawing(t, wideWidth) }

// Narrow is the drawing for small windows.
func (t *tale) Narrow() orderDrawing { return newOrderDrawing(t, narrowWidth) }
