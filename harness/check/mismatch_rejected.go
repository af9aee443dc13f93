package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
)

var mismatchRejected = Invariant{
	ID: "mismatch-rejected",
	Meaning: "another request under a used key never executes and never gets the stored answer; the same request in another " +
		"spelling is never refused for it",
	Unit: "keys with several requests or spellings",
	judge: func(ix *index, s *sheet) {
		for _, sc := range ix.lives {
			if sc.undisturbed() && (sc.varied() || sc.any(contract.AnswerMismatch) != nil) {
				s.look()
				ix.judgeMismatch(sc, s)
			}
		}
	},
}

// varied says whether the key was used with several requests or several spellings of one.
func (s *scope) varied() bool {
	if len(s.ops) < 2 {
		return false
	}
	for _, op := range s.ops[1:] {
		if op.request != s.ops[0].request || op.spelled() != s.ops[0].spelled() {
			return true
		}
	}
	return false
}

// judgeMismatch finds the request that took the key, by the rows if they say, else by the first fresh answer, else by the first
// replay, and holds every attempt against it.
func (ix *index) judgeMismatch(sc *scope, s *sheet) {
	list, _ := ix.executions(sc)
	ran := map[uint64]*operation{}
	var winner *operation
	for _, e := range list {
		if op := ix.operation(e.op); op != nil && sc.owns(op) {
			ran[op.request] = op
			winner = op
		}
	}
	if len(ran) > 1 {
		v := sc.violation(fmt.Sprintf("%s was executed for %d different requests: %s.", sc, len(ran), listIDs(shownRows(list))),
			sc.attemptsOf(list)...)
		v.Rows, v.Expected, v.Seen = shownRows(list), "one request takes the key", fmt.Sprintf("%d requests executed", len(ran))
		s.violate(v)
		return
	}
	if a := sc.any(contract.AnswerFresh, contract.AnswerDone); winner == nil && a != nil {
		winner = a.op
	}
	if a := sc.any(contract.AnswerReplay); winner == nil && a != nil {
		winner = a.op
	}
	for i := range sc.attempts {
		sc.judgeMatch(&sc.attempts[i], winner, s)
	}
}

func (s *scope) judgeMatch(a *attempt, winner *operation, sh *sheet) {
	same := winner != nil && a.op.request == winner.request
	var v violation
	switch {
	case winner != nil && !same && a.acked():
		what := "executed"
		if a.answer() == contract.AnswerReplay {
			what = "given the stored answer"
		}
		v = s.violation(fmt.Sprintf("%s belongs to operation %d, and operation %d with another request (%s) was %s.",
			s, winner.id, a.op.id, spelled(a.op), what), s.firstOf(winner), a)
		v.Expected = "422, a mismatch"
	case a.answer() == contract.AnswerMismatch && !a.op.once && s.causeless(a, winner):
		v = s.violation(fmt.Sprintf("%s refused operation %d as a mismatch, and no other request had used the key (%s).",
			s, a.op.id, spelled(a.op)), s.firstOf(winner), a)
		v.Expected = "the answer of the same request"
	default:
		return
	}
	v.Seen = a.describe()
	sh.violate(v)
}

// causeless says whether a mismatch answer has no excuse: nobody with another request was there before its end, or the key
// was taken by this very request before it was sent.
func (s *scope) causeless(a *attempt, winner *operation) bool {
	others := false
	for i := range s.attempts {
		b := &s.attempts[i]
		if b.op.request != a.op.request {
			others = others || b.sent <= a.done
		} else if winner != nil && winner.request == a.op.request && b.acked() && b.done < a.sent {
			return true
		}
	}
	return !others
}

func (s *scope) firstOf(op *operation) *attempt {
	for i := range s.attempts {
		if s.attempts[i].op == op {
			return &s.attempts[i]
		}
	}
	return nil
}

func spelled(op *operation) string {
	if op.spelled() == "" {
		return "as first spelled"
	}
	return op.spelled()
}
