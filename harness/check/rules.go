package check

import (
	"slices"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// claims is what has been sent so far, for one request, by attempts that may have taken the key.
type claims struct {
	claimers  int
	openSince int64 // first sent of those whose claim may stay open for good
	openUntil int64 // latest end of those whose claim ends with their answer
	agedOpen  bool  // one of the former is older than the stale threshold
	agedUntil int64 // the same as openUntil, of those older than the threshold
	failers   int
	executors int
}

// sweep is one pass over a key's attempts. Every rule asks for a cause that was sent before the answer came, so the attempts
// are taken by their end, and before each one those are counted in that were sent by then: two sorted lists, each walked once.
type sweep struct {
	*life
	byRequest requests
	claimers  int
	retirers  int      // stale answers and open attempts: who may have retired a claim
	openOnes  int      // open attempts alone
	refused   int      // claimers whose answer was a refusal
	completed *attempt // first to end with a 2xx
	failed    *attempt // first to end with previous-failed
	occupied  *attempt // first to end with an answer that shows a record
	fresh     *attempt
	sent      int // attempts counted in
	aged      int // attempts counted in as older than the stale threshold
	steps     int // attempts touched, for the test that the work is linear
}

// judge applies the rules to one key and gives the first contradiction, or nil. The work is linear in the attempts once they
// are sorted, whatever share of the outcomes is unknown.
func (l *life) judge() *contradiction {
	broken, _ := l.judgeCounting()
	return broken
}

func (l *life) judgeCounting() (broken *contradiction, steps int) {
	s := sweep{life: l}
	if l.executions > 1 {
		return &contradiction{rule: "it was executed " + number(l.executions) + " times"}, 0
	}
	for _, i := range l.byEnd() {
		a := &l.attempts[i]
		s.steps++
		s.countIn(a.done)
		if c := s.rule(a); c != nil {
			return c, s.steps
		}
		s.remember(a)
	}
	return s.oneOwner(), s.steps
}

// few is how many attempts most keys have at most.
const few = 16

// byEnd are the places of the attempts in the order of their ends; of equal ends, of sending.
func (l *life) byEnd() []int32 {
	order := make([]int32, 0, few)
	for i := range l.attempts {
		order = append(order, int32(i))
	}
	slices.SortStableFunc(order, func(a, b int32) int { return compare(l.attempts[a].done, l.attempts[b].done) })
	return order
}

// countIn takes in every attempt sent by the moment, and what has grown old by it.
func (s *sweep) countIn(until int64) {
	for ; s.aged < len(s.attempts) && s.attempts[s.aged].sent <= until-s.staleAfter; s.aged++ {
		s.steps++
		a := &s.attempts[s.aged]
		switch c := s.of(a); {
		case !a.mayClaim():
		case s.endsInFlight(a):
			c.agedOpen = true
		default:
			c.agedUntil = max(c.agedUntil, a.done)
		}
	}
	for ; s.sent < len(s.attempts) && s.attempts[s.sent].sent <= until; s.sent++ {
		s.steps++
		a := &s.attempts[s.sent]
		if a.open() || a.answer() == contract.AnswerStale {
			s.retirers++
		}
		if a.open() {
			s.openOnes++
		}
		if a.mayClaim() {
			s.countClaim(a)
		}
	}
}

func (s *sweep) countClaim(a *attempt) {
	c := s.of(a)
	s.claimers++
	c.claimers++
	if s.endsInFlight(a) {
		c.openSince = min(c.openSince, a.sent)
	} else {
		c.openUntil = max(c.openUntil, a.done)
	}
	if a.answer() != contract.AnswerFresh {
		c.failers++
	}
	if a.answer() == contract.AnswerRejected {
		s.refused++
	}
	if s.mayExecute(a) {
		c.executors++
	}
}

func (s *sweep) of(a *attempt) *claims {
	return s.byRequest.of(a.op.request)
}

// requests are the claims of a key by request. As a rule a key has one, which needs no map.
type requests struct {
	some   bool
	first  uint64
	claims claims // of the first
	others map[uint64]*claims
}

var noClaims = claims{openSince: forever, openUntil: -1, agedUntil: -1}

func (r *requests) of(request uint64) *claims {
	if !r.some {
		r.some, r.first, r.claims = true, request, noClaims
	}
	if request == r.first {
		return &r.claims
	}
	c := r.others[request]
	if c == nil {
		if r.others == nil {
			r.others = map[uint64]*claims{}
		}
		made := noClaims
		c = &made
		r.others[request] = c
	}
	return c
}

// rule judges one answer by what may have caused it.
func (s *sweep) rule(a *attempt) *contradiction {
	if !a.returned() {
		return nil
	}
	c := s.of(a)
	switch a.answer() {
	case contract.AnswerFresh:
		return s.freshRule(a)
	case contract.AnswerReplay:
		return s.replayRule(a, c)
	case contract.AnswerInFlight:
		if !c.openAt(a.sent) && !(s.claims.HideBody && s.anyOpenAt(a.sent)) {
			return &contradiction{rule: "no claim of the same request was open at that time", at: a}
		}
		return s.ended(a)
	case contract.AnswerPreviousFailed:
		if c.failers == 0 {
			return &contradiction{rule: "no earlier attempt of the same request can have failed", at: a}
		}
		return s.failedRule(a)
	case contract.AnswerStale:
		if !c.agedOpen && c.agedUntil < a.sent {
			return &contradiction{rule: "no claim of the same request was old enough", at: a}
		}
		return s.ended(a)
	case contract.AnswerMismatch:
		return s.mismatchRule(a, c)
	}
	return nil
}

// ended refuses answers of a record in flight after the key's fate was known.
func (s *sweep) ended(a *attempt) *contradiction {
	if s.completed != nil && s.completed.done < a.sent {
		return &contradiction{rule: "the key had been completed", cause: s.completed, at: a}
	}
	if s.failed != nil && s.failed.done < a.sent {
		return &contradiction{rule: "the key had failed", cause: s.failed, at: a}
	}
	return nil
}

// freshRule: one execution, and none over a record that nobody can have retired.
func (s *sweep) freshRule(a *attempt) *contradiction {
	if s.fresh != nil {
		return &contradiction{rule: "it had been executed already", cause: s.fresh, at: a}
	}
	if !s.mayExecute(a) {
		return &contradiction{rule: "the rows say that another operation was executed", at: a}
	}
	if s.completed != nil && s.completed.body != a.body {
		return &contradiction{rule: "its replay says something else", cause: s.completed, at: a}
	}
	if s.failed != nil {
		return &contradiction{rule: "the key had failed", cause: s.failed, at: a}
	}
	if b := s.occupied; b != nil && b.done < a.sent && !s.retirable() {
		return &contradiction{rule: "the key was taken, and nobody retired its record", cause: b, at: a}
	}
	return s.ended(a)
}

// openAt says whether a claim may have been open at that time or later.
func (c *claims) openAt(sent int64) bool { return c.openSince != forever || c.openUntil >= sent }

func (s *sweep) anyOpenAt(sent int64) bool {
	if s.byRequest.some && s.byRequest.claims.openAt(sent) {
		return true
	}
	for _, c := range s.byRequest.others {
		if c.openAt(sent) {
			return true
		}
	}
	return false
}

// retirable says whether a claim can have been retired by somebody else than its own maker, or have gone with its worker.
func (s *sweep) retirable() bool {
	if s.claims.EndWithWorker && s.openOnes > 0 {
		return true
	}
	return s.retirers > s.openOnes || s.openOnes > 1 || (s.openOnes == 1 && s.refused > 0)
}

func (s *sweep) replayRule(a *attempt, c *claims) *contradiction {
	switch {
	case c.executors == 0:
		return &contradiction{rule: "no attempt of the same request can have executed by then", at: a}
	case s.completed != nil && (s.completed.body != a.body || s.completed.status != a.status):
		return &contradiction{rule: "it differs from an earlier answer", cause: s.completed, at: a}
	case s.failed != nil:
		return &contradiction{rule: "the key had failed", cause: s.failed, at: a}
	}
	return nil
}

func (s *sweep) failedRule(a *attempt) *contradiction {
	if s.completed != nil {
		return &contradiction{rule: "the key had been completed", cause: s.completed, at: a}
	}
	if s.executions == 1 {
		return &contradiction{rule: "the rows say that it was executed", at: a}
	}
	return nil
}

func (s *sweep) mismatchRule(a *attempt, c *claims) *contradiction {
	if s.claimers == c.claimers {
		return &contradiction{rule: "no other request can have taken the key by then", at: a}
	}
	for _, known := range []*attempt{s.completed, s.failed} {
		if known != nil && known.done < a.sent && known.op.request == a.op.request {
			return &contradiction{rule: "the key belongs to this very request", cause: known, at: a}
		}
	}
	return nil
}

func (s *sweep) remember(a *attempt) {
	if a.acked() && s.completed == nil {
		s.completed = a
	}
	if a.answer() == contract.AnswerFresh {
		s.fresh = a
	}
	if a.answer() == contract.AnswerPreviousFailed && s.failed == nil {
		s.failed = a
	}
	if a.recordSeen() && s.occupied == nil {
		s.occupied = a
	}
}
