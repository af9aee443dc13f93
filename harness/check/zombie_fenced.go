package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
)

var zombieFenced = Invariant{
	ID:      "zombie-fenced",
	Meaning: "a worker whose claim was retired as stale commits nothing",
	Unit:    "keys with a retired claim",
	Needs:   []Need{NeedExecutions},
	ByFault: true,
	judge: func(ix *index, s *sheet) {
		s.skipped = "no claim went stale"
		for _, sc := range ix.lives {
			stale := sc.retirement()
			list, known := ix.executions(sc)
			if stale == nil || !known || !sc.undisturbed() {
				continue
			}
			s.lookIn(sc.faults)
			ix.judgeZombie(sc, stale, list, s)
		}
	},
}

// retirement is an answer that says that a claim was retired, nil for none. One that a stated loss may have taken is none: the claim is
// then in flight again, and its worker may go on.
func (s *scope) retirement() *attempt {
	for i := range s.attempts {
		if a := &s.attempts[i]; a.answer() == contract.AnswerStale && !a.void {
			return a
		}
	}
	return nil
}

// judgeZombie convicts on two kinds of proof: two executions under a key whose claim had been retired; or one by the only
// attempt that can have held the retired claim.
func (ix *index) judgeZombie(sc *scope, stale *attempt, list []execution, s *sheet) {
	if len(list) > 1 {
		s.violateIn(sc.faults, sc.zombie(stale, list, "executed more than once"))
		return
	}
	holder := sc.onlyHolder(stale)
	if holder == nil || len(list) == 0 || list[0].op != holder.op.id {
		return
	}
	for i := range sc.attempts {
		if a := &sc.attempts[i]; a != holder && a.op == holder.op {
			return // its operation asked again and may have claimed afresh
		}
	}
	s.violateIn(sc.faults, sc.zombie(stale, list, "executed by the worker that had lost it"))
}

// onlyHolder is the one attempt that can have made the claim which the stale answer retired; nil if there are several.
func (s *scope) onlyHolder(stale *attempt) (holder *attempt) {
	for i := range s.attempts {
		a := &s.attempts[i]
		if a.sent > stale.done || a == stale || !a.mayClaim() {
			continue
		}
		if holder != nil {
			return nil
		}
		holder = a
	}
	return holder
}

func (s *scope) zombie(stale *attempt, list []execution, what string) (v violation) {
	rows := shownRows(list)
	v = s.violation(fmt.Sprintf("%s was retired as stale and %s: %s.", s, what, listIDs(rows)),
		append(s.attemptsOf(list), stale)...)
	v.Rows, v.Expected, v.Seen = rows, "the retired claim's worker rolls back", fmt.Sprintf("%d executions", len(list))
	return v
}
