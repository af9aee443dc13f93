package check

import "github.com/idemstorm/idemstorm/harness/contract"

// sights is what a key's answers say together about its record: which intervals have to meet.
type sights struct {
	request     uint64 // of those who saw their own request's record
	own         bool   // somebody did
	torn        bool   // of different requests
	foreign     map[uint64]bool
	seenBy      int64 // the record was there by then: the first end of an answer that shows it
	inFlightAt  int64 // it was in flight at that time or later: the last sending of an in-flight answer; -1 without one
	endedBy     int64 // it had ended by then: the first end of a replay or of previous-failed
	ended       bool
	fresh       *attempt
	mustExecute bool // a replay, a fresh answer or a row says so
	mustFail    bool
}

// oneOwner is the last rule, and a complete one where no claim can have been retired: then one attempt owned the record for good,
// and there must be one for which all intervals meet. It took the key by the time the record was first seen, was still at work when
// it was last seen in flight, and had ended by the time that was first seen. Where claims may have been retired, the same is asked
// of the last owner, and only by what was seen once the key's fate was known.
func (s *sweep) oneOwner() *contradiction {
	seen := s.sights()
	if seen.seenBy == forever && seen.fresh == nil && s.executions != 1 {
		return nil
	}
	for i := range s.attempts {
		s.steps++
		if s.fits(&s.attempts[i], seen) {
			return nil
		}
	}
	if s.executions == 1 && seen.seenBy == forever {
		return &contradiction{rule: "it was executed, and every answer says that it was not"}
	}
	return &contradiction{rule: "no attempt can have held the key so that all answers fit"}
}

// retirePossible says whether a claim may have been retired: somebody says so, or somebody's unseen answer may, and there was
// time enough for a claim to go stale, or it goes with its worker.
func (l *life) retirePossible() bool {
	opened := false
	for i := range l.attempts {
		if l.attempts[i].answer() == contract.AnswerStale {
			return true
		}
		opened = opened || l.attempts[i].open()
	}
	return opened && (l.claims.EndWithWorker || l.lastDone()-l.attempts[0].sent >= l.staleAfter)
}

// lastDone is the end of the last attempt: what happens later shows in no answer.
func (l *life) lastDone() (last int64) {
	for i := range l.attempts {
		last = max(last, l.attempts[i].done)
	}
	return last
}

func (s *sweep) sights() sights {
	seen := sights{seenBy: forever, inFlightAt: -1, endedBy: forever, mustExecute: s.executions == 1}
	settled := s.settledBy()
	retired := s.retirePossible()
	for i := range s.attempts {
		s.steps++
		a := &s.attempts[i]
		if a.answer() == contract.AnswerFresh {
			seen.fresh, seen.mustExecute = a, true
		}
		if a.recordSeen() && (!retired || a.settles() || a.sent > settled) {
			seen.add(a, s.claims.HideBody)
		}
	}
	return seen
}

// settles says whether the answer shows that the key's fate was decided for good.
func (a *attempt) settles() bool {
	return a.acked() || a.answer() == contract.AnswerPreviousFailed
}

// settledBy is when the key's fate was decided for certain.
func (l *life) settledBy() (by int64) {
	by = forever
	for i := range l.attempts {
		if a := &l.attempts[i]; a.settles() {
			by = min(by, a.done)
		}
	}
	return by
}

// add takes in an answer that shows the record. Where claims are hidden, in flight does not say of which request.
func (seen *sights) add(a *attempt, hidden bool) {
	seen.seenBy = min(seen.seenBy, a.done)
	if hidden && a.answer() == contract.AnswerInFlight {
		seen.inFlightAt = max(seen.inFlightAt, a.sent)
		return
	}
	if a.answer() == contract.AnswerMismatch {
		if seen.foreign == nil {
			seen.foreign = map[uint64]bool{}
		}
		seen.foreign[a.op.request] = true
		return
	}
	seen.torn = seen.torn || (seen.own && seen.request != a.op.request)
	seen.own, seen.request = true, a.op.request
	switch a.answer() {
	case contract.AnswerInFlight:
		seen.inFlightAt = max(seen.inFlightAt, a.sent)
	case contract.AnswerReplay:
		seen.ended, seen.mustExecute = true, true
		seen.endedBy = min(seen.endedBy, a.done)
	case contract.AnswerPreviousFailed:
		seen.ended, seen.mustFail = true, true
		seen.endedBy = min(seen.endedBy, a.done)
	}
}

// fits says whether the attempt can have owned the record.
func (s *sweep) fits(o *attempt, seen sights) bool {
	switch {
	case seen.torn, !o.mayClaim(), seen.fresh != nil && o != seen.fresh,
		seen.own && o.op.request != seen.request, seen.foreign[o.op.request],
		o.sent > seen.seenBy,
		seen.mustExecute && !s.mayExecute(o),
		seen.mustFail && (seen.mustExecute || o.answer() == contract.AnswerFresh):
		return false
	}
	ends := seen.endedBy
	if !o.open() && (!s.endsInFlight(o) || seen.ended) {
		ends = min(ends, o.done)
	}
	return seen.inFlightAt <= ends
}
