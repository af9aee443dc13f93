package check

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// phase is the state of a key's record.
type phase uint8

const (
	absent phase = iota
	inFlight
	completed
	failed
)

// recordState is the contract's state machine: one key's record. owner is the attempt that claimed, by its place in the life;
// decided has a bit for each attempt that has claimed or let it be.
type recordState struct {
	phase   phase
	owner   int
	request uint64
	status  int32
	body    uint64
	known   bool // status and body are bound; the first replay of a lost execution binds them
	decided uint32
}

// moveKind is what an attempt does to the record at one instant. An attempt is one or two of them, each somewhere in its interval.
type moveKind uint8

const (
	moveClaim   moveKind = iota // takes the key if it can
	moveEnd                     // completes or fails what it claimed
	moveObserve                 // reads the record, and answers by it
	moveRetire                  // removes a stale record
	moveWitness                 // the rows: this operation, or some, has executed
)

type move struct {
	kind moveKind
	i    int // place of the attempt
}

// crossKeySize is the most attempts that porcupine is given: its time grows exponentially with overlapping unknown outcomes.
const crossKeySize = 12

// porcupineSays checks a life against the state machine by search.
func porcupineSays(l *life, limit time.Duration) porcupine.CheckResult {
	if l.executions > 1 {
		return porcupine.Illegal
	}
	model := (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{recordState{}} },
		Step: func(state, input, _ any) []any { return l.step(state.(recordState), input.(move)) },
	}).ToModel()
	return porcupine.CheckOperationsTimeout(model, l.moves(), limit)
}

// moves lays a life out. What the server may still do after the client has stopped looking has no end.
func (l *life) moves() (list []porcupine.Operation) {
	add := func(kind moveKind, i int, until int64) {
		list = append(list, porcupine.Operation{ClientId: len(list), Input: move{kind, i}, Call: l.attempts[i].sent, Return: until})
	}
	witnessed := l.executions != 1
	for i := range l.attempts {
		a := &l.attempts[i]
		switch {
		case a.open():
			add(moveClaim, i, forever)
			add(moveEnd, i, forever)
		case a.mayClaim():
			add(moveClaim, i, a.done)
			add(moveEnd, i, a.done)
		case a.recordSeen():
			add(moveObserve, i, a.done)
			if a.answer() == contract.AnswerStale {
				add(moveRetire, i, a.done)
			}
		}
		if !witnessed && (l.executed == nil || slices.Contains(l.executed, a.op.id)) {
			add(moveWitness, i, forever)
			witnessed = true
		}
	}
	return list
}

// step gives every state that one move may lead to; none when the move's answer is impossible in st.
func (l *life) step(st recordState, m move) []any {
	a := &l.attempts[m.i]
	switch m.kind {
	case moveClaim:
		return l.claim(st, m.i, a)
	case moveEnd:
		return l.end(st, m.i, a)
	case moveObserve:
		return l.observe(st, a)
	case moveRetire:
		return l.retire(st, a)
	}
	if st.phase == completed && (l.executed == nil || l.attempts[st.owner].op == a.op) {
		return []any{st}
	}
	return nil
}

func (l *life) claim(st recordState, i int, a *attempt) (next []any) {
	left := st
	left.decided |= 1 << i
	taken := left
	taken.phase, taken.owner, taken.request = inFlight, i, a.op.request
	if a.answer() == contract.AnswerFresh {
		if st.phase != absent {
			return nil
		}
		return []any{taken}
	}
	next = []any{left} // refused before a claim, or never arrived
	if st.phase == absent {
		next = append(next, taken)
	}
	if a.open() && st.phase == inFlight && l.attempts[st.owner].sent+l.staleAfter <= l.lastDone() {
		// Its unseen answer may have been that it retired a stale record, in time for somebody's answer to show it.
		next = append(next, recordState{decided: left.decided})
	}
	return next
}

func (l *life) end(st recordState, i int, a *attempt) (next []any) {
	mine := st.phase == inFlight && st.owner == i
	if !mine {
		if a.answer() == contract.AnswerFresh || (!a.open() && st.decided&(1<<i) == 0) {
			return nil
		}
		return []any{st}
	}
	if l.mayExecute(a) {
		done := st
		done.phase = completed
		if a.answer() == contract.AnswerFresh {
			done.status, done.body, done.known = a.status, a.body, true
		}
		next = append(next, done)
	}
	if a.answer() != contract.AnswerFresh {
		lost := st
		lost.phase = failed
		next = append(next, lost)
	}
	if l.endsInFlight(a) {
		next = append(next, st)
		if l.claims.EndWithWorker {
			next = append(next, recordState{decided: st.decided})
		}
	}
	return next
}

func (l *life) observe(st recordState, a *attempt) []any {
	same := st.request == a.op.request
	var fits bool
	switch a.answer() {
	case contract.AnswerMismatch:
		fits = st.phase != absent && !same
	case contract.AnswerInFlight:
		fits = st.phase == inFlight && (same || l.claims.HideBody)
	case contract.AnswerPreviousFailed:
		fits = st.phase == failed && same
	case contract.AnswerStale:
		fits = st.phase == inFlight && same && l.stale(st, a)
	case contract.AnswerReplay:
		fits = st.phase == completed && same && (!st.known || st.status == a.status && st.body == a.body)
		st.status, st.body, st.known = a.status, a.body, true
	}
	if !fits {
		return nil
	}
	return []any{st}
}

// retire is optional: of many that see a stale record, one removes it.
func (l *life) retire(st recordState, a *attempt) []any {
	if st.phase == inFlight && l.stale(st, a) {
		return []any{st, recordState{decided: st.decided}}
	}
	return []any{st}
}

func (l *life) stale(st recordState, a *attempt) bool {
	return l.attempts[st.owner].sent+l.staleAfter <= a.done
}
