package reports

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// mostAttempts bounds the attempts that one counterexample lists.
const mostAttempts = 60

// example is one counterexample with everything that is known about it gathered from the run, in the form that every format
// shows.
type example struct {
	Invariant string
	verdict.Violation
	ZeroNS   int64 // run time of its first sending; the times of Attempts and Faults count from it
	Attempts []attempt
	More     int // attempts that belong here and are not listed
	Missing  int // operations that are referred to and not in the run file
	Tables   []rowTable
	Faults   []span
}

// attempt is one HTTP request of a counterexample. Times are nanoseconds from the counterexample's zero.
type attempt struct {
	history.Attempt
	Operation history.Operation
	Cited     bool // the counterexample refers to this very attempt, or to its operation as a whole
	Class     string
	Label     string // what came of it: "201 fresh", "lost (timeout)"
	Excerpt   string // the beginning of the answer's body
}

// span is one fault as an interval. Open means that no healing was recorded.
type span struct {
	ID              int
	Listed          bool // the faults table has a row of it
	Name, On, Info  string
	FromNS, UntilNS int64
	Open            bool
}

// newExample joins by operation id alone. An operation that the run file does not hold is counted, not guessed.
func newExample(run verdict.Run, f verdict.Finding, v verdict.Violation) example {
	e := example{Invariant: f.Invariant, Violation: v, Tables: rowTables(v.Rows)}
	cited := map[int64][]int{}
	for _, ref := range v.Ops {
		cited[ref.Op] = append(cited[ref.Op], ref.N)
	}
	cases := map[int64]bool{}
	for _, c := range run.Cases {
		if ns, ok := cited[c.Operation.ID]; ok && !cases[c.Operation.ID] {
			cases[c.Operation.ID] = true
			e.Attempts = append(e.Attempts, caseAttempts(c, ns)...)
		}
	}
	e.Missing = len(cited) - len(cases)
	e.order()
	e.Faults = e.overlapping(faultSpans(run))
	return e
}

// caseAttempts takes all attempts of a cited operation: what happened around the cited one is what explains it.
func caseAttempts(c verdict.Case, cited []int) []attempt {
	var out []attempt
	for i, a := range c.Attempts {
		answer := ""
		if i < len(c.Answers) {
			answer = c.Answers[i]
		}
		out = append(out, attempt{
			Attempt: a, Operation: c.Operation,
			Cited: slices.Contains(cited, 0) || slices.Contains(cited, a.N),
			Class: class(a, answer), Label: label(a, answer), Excerpt: clip(visible(string(a.Body)), 240),
		})
	}
	return out
}

// order sorts by sending, moves the zero to the first one, and cuts the list.
func (e *example) order() {
	slices.SortStableFunc(e.Attempts, func(a, b attempt) int {
		return cmp.Or(cmp.Compare(a.SentNS, b.SentNS), cmp.Compare(a.Op, b.Op), cmp.Compare(a.N, b.N))
	})
	if len(e.Attempts) > mostAttempts {
		e.More = len(e.Attempts) - mostAttempts
		e.Attempts = e.Attempts[:mostAttempts]
	}
	if len(e.Attempts) == 0 {
		return
	}
	e.ZeroNS = e.Attempts[0].SentNS
	for i := range e.Attempts {
		a := &e.Attempts[i]
		a.IntendedNS -= e.ZeroNS
		a.SentNS -= e.ZeroNS
		a.DoneNS -= e.ZeroNS
	}
}

// bounds is the stretch of time that the attempts cover.
func (e example) bounds() (from, until int64) {
	for _, a := range e.Attempts {
		from, until = min(from, a.IntendedNS), max(until, a.DoneNS)
	}
	return from, until
}

// overlapping are the faults that touch the counterexample, in its own time.
func (e example) overlapping(faults []span) []span {
	var out []span
	from, until := e.bounds()
	for _, f := range faults {
		f.FromNS -= e.ZeroNS
		if !f.Open {
			f.UntilNS -= e.ZeroNS
		}
		if len(e.Attempts) > 0 && f.FromNS <= until && f.UntilNS >= from {
			out = append(out, f)
		}
	}
	return out
}

// Start is when in the run the counterexample's zero was.
func (e example) Start() string { return duration(time.Duration(e.ZeroNS)) }

// faultSpans are the faults of a run, marked where the faults table has a row for them.
func faultSpans(run verdict.Run) []span {
	out := spans(run.Faults)
	for i := range out {
		out[i].Listed = slices.ContainsFunc(run.Windows, func(w verdict.Window) bool { return w.Fault == out[i].ID })
	}
	return out
}

// spans pairs the events of each fault. One that was never healed lasts until the end of time.
func spans(events []history.Fault) []span {
	var out []span
	place := map[int]int{}
	for _, f := range events {
		i, began := place[f.ID]
		switch {
		case !began && (f.Phase == history.FaultStriking || f.Phase == history.FaultBegan):
			place[f.ID] = len(out)
			out = append(out, span{ID: f.ID, Name: f.Name, On: f.On, Info: f.Info, FromNS: f.AtNS, UntilNS: math.MaxInt64, Open: true})
		case f.Phase == history.FaultHealed && began:
			out[i].UntilNS, out[i].Open = f.AtNS, false
		}
	}
	return out
}

// Title names a fault and what it struck.
func (s span) Title() string { return sentence(" ", faultNumber(s.ID), sentence(" on ", s.Name, s.On)) }

// label says what came of an attempt, as the client saw it.
func label(a history.Attempt, answer string) string {
	switch a.Outcome {
	case history.Returned:
		return sentence(" ", strconv.Itoa(a.Status), cmp.Or(answer, "not in the contract"))
	case history.Unsent:
		return sentence(" ", "not sent", parenthesis(a.Cause))
	case history.Cut:
		return sentence(" ", "cut after", plural(int64(a.BytesSent), "byte", "bytes"), parenthesis(a.Cause))
	}
	return sentence(" ", "lost", parenthesis(a.Cause))
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// class groups outcomes for drawing.
func class(a history.Attempt, answer string) string {
	if a.Outcome == history.Returned {
		return classOf(answer)
	}
	return classOf(string(a.Outcome))
}

// classOf is the drawing class of a classified answer, or of an outcome without one. What was cut counts as unsent.
func classOf(answer string) string {
	switch answer {
	case "fresh", "replay", "lost", "unsent", "failed":
		return answer
	case "cut":
		return "unsent"
	case "in-flight", "previous-failed", "stale", "mismatch":
		return "conflict"
	case "malformed", "gated", "store-down", "rejected":
		return "refused"
	}
	return "other"
}

// Done is when the answer was read whole; after a loss the effect may still come.
func (a attempt) Done() string {
	switch a.Outcome {
	case "returned":
		return millis(a.DoneNS)
	case "unsent":
		return dash
	case "cut":
		return millis(a.DoneNS)
	}
	return millis(a.DoneNS) + "+"
}

// Asked says what was asked: method, path, what its body means, and how it is spelled.
func (a attempt) Asked() string {
	o := a.Operation
	return sentence(" ", o.Method, o.Path, o.Request, parenthesis(o.Spelling))
}

// interval says from when until when a fault lasted, from the counterexample's zero.
func (s span) interval() string {
	from := "from " + millis(s.FromNS) + " ms"
	if s.Open {
		return from + ", never healed"
	}
	return from + " until " + millis(s.UntilNS) + " ms"
}

// userName names whose credentials were used; "" for none.
func userName(id int64) string {
	switch id {
	case 0:
		return ""
	case history.ServiceUser:
		return "the service"
	}
	return "user " + strconv.FormatInt(id, 10)
}
