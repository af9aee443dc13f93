package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// flaw is one way in which an automaton can be wrong.
type flaw string

const (
	rightAutomaton   flaw = ""
	runsTwice        flaw = "a second request claims a key that is taken"
	replaysElse      flaw = "a replay says something else"
	replaysEarly     flaw = "a request in flight is answered with a replay"
	replaysMismatch  flaw = "another request gets the stored answer"
	unfenced         flaw = "a worker commits after its claim was retired"
	forgetsFailure   flaw = "a failed key runs again"
	stuckInFlight    flaw = "a completed key is answered as in flight"
	accusesOwnRepeat flaw = "the same request is refused as a mismatch"
)

var flaws = []flaw{
	runsTwice, replaysElse, replaysEarly, replaysMismatch, unfenced, forgetsFailure, stuckInFlight, accusesOwnRepeat,
}

// visit is one attempt inside the automaton: sent ≤ arrives ≤ ends, and the client sees an answer at done, or nothing.
type visit struct {
	op, sent, arrives, ends, done int64
	lost, crash, refused          bool
	answer                        contract.Answer
	body                          string
}

// automaton is a server with one key, run in the order of events on its own clock (milliseconds).
type automaton struct {
	flaw     flaw
	stale    int64 // age at which a claim is taken as abandoned
	visits   []*visit
	request  map[int64]string
	phase    phase
	owner    *visit
	claimed  int64
	body     string
	executed []int64
}

// drawAutomaton makes a random history of one key: a few operations of one or two requests, each with a few attempts in turn.
func drawAutomaton(t *rapid.T, f flaw, stale time.Duration) *automaton {
	a := planAutomaton(t, f, stale)
	a.run()
	return a
}

// planAutomaton draws the attempts, which nobody has answered yet.
func planAutomaton(t *rapid.T, f flaw, stale time.Duration) *automaton {
	a := &automaton{flaw: f, stale: stale.Milliseconds(), request: map[int64]string{}}
	ops := rapid.IntRange(1, 5).Draw(t, "operations")
	requests := rapid.SampledFrom([]string{"a", "ab"}).Draw(t, "requests")
	refused := map[string]bool{}
	for _, r := range requests {
		refused[string(r)] = rapid.IntRange(0, 4).Draw(t, "refused") == 0
	}
	for op := int64(1); op <= int64(ops); op++ {
		a.request[op] = string(requests[rapid.IntRange(0, len(requests)-1).Draw(t, "request")])
		from := rapid.Int64Range(0, 40).Draw(t, "from")
		if f == unfenced { // the next one comes when a paused one counts as abandoned
			from += (op - 1) * 55
		}
		for range rapid.IntRange(1, 2).Draw(t, "attempts") {
			v := drawVisit(t, op, from)
			if f == unfenced { // it takes a pause to show
				v.ends += 80
				v.done = max(v.done, v.ends)
			}
			v.refused = refused[a.request[op]]
			if f == forgetsFailure { // else it would only fail again
				v.refused = len(a.visits) == 0
			}
			from = v.done + 1 + rapid.Int64Range(0, 60).Draw(t, "wait")
			a.visits = append(a.visits, v)
		}
	}
	return a
}

func drawVisit(t *rapid.T, op, from int64) *visit {
	span := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	v := &visit{op: op, sent: from, arrives: from + span("under way", 5)}
	v.ends = v.arrives + 1 + span("work", 20)
	if span("paused", 6) == 0 {
		v.ends += 80 + span("pause", 40)
	}
	v.done = v.ends + span("back", 3)
	v.crash = span("crash", 7) == 0
	v.lost = v.crash || span("lost", 4) == 0
	if v.lost {
		v.done = v.sent + 1 + span("patience", 30)
	}
	return v
}

// happening is an arrival or an ending.
type happening struct {
	at    int64
	visit *visit
	run   func()
}

// happenings are in the order of time.
func (a *automaton) happenings() (events []happening) {
	for _, v := range a.visits {
		events = append(events, happening{v.arrives, v, func() { a.arrive(v) }}, happening{v.ends, v, func() { a.end(v) }})
	}
	slices.SortStableFunc(events, func(x, y happening) int { return cmp.Compare(x.at, y.at) })
	return events
}

// run takes arrivals and endings in turn.
func (a *automaton) run() {
	for _, e := range a.happenings() {
		e.run()
	}
}

func (a *automaton) arrive(v *visit) {
	v.answer = a.look(v)
	if v.answer != "" && !v.lost {
		v.done = v.arrives // answered at once
	}
}

// look answers from the record, or claims the key and answers nothing yet.
func (a *automaton) look(v *visit) contract.Answer {
	same := a.phase == absent || a.request[a.owner.op] == a.request[v.op]
	switch {
	case a.phase == absent:
		return a.claim(v)
	case a.is(runsTwice) || a.phase == failed && a.is(forgetsFailure):
		return a.claim(v)
	case !same && a.phase == completed && a.is(replaysMismatch):
		v.body = a.body
		return contract.AnswerReplay
	case !same, a.phase == completed && a.is(accusesOwnRepeat):
		return contract.AnswerMismatch
	case a.phase == completed && a.is(stuckInFlight):
		return contract.AnswerInFlight
	case a.phase == completed:
		v.body = a.body
		if a.is(replaysElse) {
			v.body = fmt.Sprint("else ", v.sent)
		}
		return contract.AnswerReplay
	case a.phase == failed:
		return contract.AnswerPreviousFailed
	case v.arrives-a.claimed >= a.stale:
		a.phase = absent
		return contract.AnswerStale
	case a.is(replaysEarly):
		v.body = "early"
		return contract.AnswerReplay
	}
	return contract.AnswerInFlight
}

func (a *automaton) is(f flaw) bool { return a.flaw == f }

func (a *automaton) claim(v *visit) contract.Answer {
	a.phase, a.owner, a.claimed = inFlight, v, v.arrives
	return ""
}

// end commits the work of a visit that claimed. The fence refuses it when the claim is not its own any more.
func (a *automaton) end(v *visit) {
	if v.answer != "" || v.crash {
		return
	}
	if (a.phase != inFlight || a.owner != v) && !a.is(unfenced) && a.flaw != runsTwice {
		v.answer = contract.AnswerFailed
		return
	}
	if v.refused {
		a.phase, a.owner, v.answer = failed, v, contract.AnswerRejected
		return
	}
	v.body = fmt.Sprint("executed by ", v.op, " at ", v.ends)
	a.phase, a.owner, a.body, v.answer = completed, v, v.body, contract.AnswerFresh
	a.executed = append(a.executed, v.op)
}

// tell writes what client and rows show into a story. Without rows only the answers speak.
func (a *automaton) tell(s *story, user int64, rows bool) {
	s.in.Contract.StaleAfter = time.Duration(a.stale * ms)
	ids := map[int64]int64{}
	for _, v := range a.visits {
		if ids[v.op] == 0 {
			ids[v.op] = s.op(k1, user, "order", a.request[v.op])
		}
		answer := v.answer
		if v.lost {
			answer = "lost"
		}
		s.ask(ids[v.op], v.sent, v.done, answer)
		last := s.attempt(len(s.events) - 1)
		if v.body != "" && !v.lost {
			last.Body = fmt.Appendf(nil, `{"x": %q}`, v.body)
		}
		if v.lost {
			last.Outcome = history.Lost
		}
	}
	if rows {
		for _, op := range a.executed {
			s.execute(ids[op])
		}
	} else {
		s.set.Orders, s.set.Audits = nil, nil
	}
}
