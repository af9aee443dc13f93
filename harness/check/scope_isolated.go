package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

var scopeIsolated = Invariant{
	ID:      "scope-isolated",
	Meaning: "no user and no endpoint sees the record of another, whatever key they share",
	Unit:    "uses of a shared key",
	judge: func(ix *index, s *sheet) {
		shared := ix.shared()
		for _, sc := range ix.scopes {
			if others := shared[sc.key]; len(others) > 1 && sc.deduplicates() && len(sc.attempts) > 0 && !sc.expiring {
				s.look()
				sc.judgeForeign(others, s)
			}
			ix.judgeOwners(sc, s)
		}
	},
}

// shared are the scopes that were used of each key with several.
func (ix *index) shared() map[string][]*scope {
	first, shared := make(map[string]*scope, len(ix.named)), map[string][]*scope{}
	for _, sc := range ix.scopes {
		if sc.key == "" || len(sc.attempts) == 0 {
			continue
		}
		switch other := first[sc.key]; {
		case other == nil:
			first[sc.key] = sc
		case shared[sc.key] == nil:
			shared[sc.key] = []*scope{other, sc}
		default:
			shared[sc.key] = append(shared[sc.key], sc)
		}
	}
	return shared
}

// judgeForeign looks for an answer that speaks of a record which nobody in this scope can have made.
func (s *scope) judgeForeign(others []*scope, sh *sheet) {
	for i := range s.attempts {
		a := &s.attempts[i]
		if !a.recordSeen() || s.claimedBefore(a) {
			continue
		}
		for _, other := range others {
			cause := other.firstClaim()
			if other.name == s.name || cause == nil || cause.sent > a.done {
				continue
			}
			v := s.violation(fmt.Sprintf("%s was answered %s, and only user %d on %s had used it.",
				s, a.describe(), other.user, other.endpoint), cause, a)
			v.Expected, v.Seen = "an answer as for a fresh key", a.describe()
			sh.violate(v)
			return
		}
	}
}

// recordSeen says whether the answer follows from a record that was there.
func (a *attempt) recordSeen() bool {
	switch a.answer() {
	case contract.AnswerReplay, contract.AnswerMismatch, contract.AnswerInFlight, contract.AnswerPreviousFailed, contract.AnswerStale:
		return true
	}
	return false
}

func (s *scope) claimedBefore(a *attempt) bool {
	cause := s.firstClaim()
	return cause != nil && cause.sent <= a.done
}

// firstClaim is the first attempt that may have taken the key; attempts are sorted by sending.
func (s *scope) firstClaim() *attempt {
	for i := range s.attempts {
		if s.attempts[i].mayClaim() {
			return &s.attempts[i]
		}
	}
	return nil
}

// judgeOwners compares who asked with whose order it became.
func (ix *index) judgeOwners(sc *scope, s *sheet) {
	for _, o := range sc.orders {
		op := ix.operation(o.Operation)
		if op == nil || op.scope == sc || op.scope.user == history.ServiceUser {
			continue
		}
		if op.scope.user != sc.user || op.scope.endpoint != sc.endpoint {
			v := sc.violation(fmt.Sprintf("Order %s of user %d on %s was asked for by operation %d of user %d on %s.",
				o.ID, sc.user, sc.endpoint, op.id, op.scope.user, op.scope.endpoint), op.scope.firstOf(op))
			v.Rows, v.Expected, v.Seen = rowsOf(orderRow(o)), "the order of the user and endpoint that asked", "another's"
			s.violate(v)
		}
	}
}
