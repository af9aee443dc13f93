package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
)

var failOpen = Invariant{
	ID:      "fail-open",
	Meaning: "on tier 2 requests proceed while only the key store is out",
	Unit:    "tier 2 attempts inside an outage",
	ByFault: true,
	judge: func(ix *index, s *sheet) {
		s.skipped = "no tier 2 attempt lay inside a total outage of the key store alone"
		var blocked []*attempt
		proceeded := false
		for _, sc := range ix.scopes {
			if sc.key == "" || sc.user <= 0 || !sc.protected(contract.TierOpen) || sc.off {
				continue
			}
			for i := range sc.attempts {
				a := &sc.attempts[i]
				w := ix.outageOver(a)
				if w == nil || ix.databaseOut(a) || !a.returned() {
					continue
				}
				s.lookIn(ix.outagesOver(a))
				proceeded = proceeded || a.answer() == contract.AnswerFresh
				if a.answer() == contract.AnswerStoreDown {
					v := sc.violation(fmt.Sprintf("%s refused operation %d during %s.", sc, a.op.id, w.name), a)
					v.Expected, v.Seen = "the request proceeds without dedup", a.describe()
					s.violateIn(ix.outagesOver(a), v)
				}
				blocked = append(blocked, a)
			}
		}
		if !proceeded {
			ix.judgeBlocked(blocked, s)
		}
	},
}

// failsAnyway says that requests failed for a reason that is not the key store: while nothing was struck; or on tier 1, where a request that
// lacks only its store is told so.
func (ix *index) failsAnyway() bool {
	for _, sc := range ix.scopes {
		if sc.key == "" || sc.user <= 0 || sc.route == nil || sc.off {
			continue
		}
		for i := range sc.attempts {
			a := &sc.attempts[i]
			if a.answer() == contract.AnswerFailed && (ix.calm(a) || sc.protected(contract.TierClosed) && ix.outageOver(a) != nil) {
				return true
			}
		}
	}
	return false
}

// databaseOut says whether the handlers' own database was struck too while the attempt ran: then it may fail for that.
func (ix *index) databaseOut(a *attempt) bool {
	m := ix.margin()
	for _, w := range ix.windows {
		if w.database && a.done >= w.struck-m && (w.healed == forever || a.sent <= w.healed+m) {
			return true
		}
	}
	return false
}

// calm says that no fault struck anything while the attempt ran.
func (ix *index) calm(a *attempt) bool {
	m := ix.margin()
	for _, w := range ix.windows {
		if a.done >= w.struck-m && (w.healed == forever || a.sent <= w.healed+m) {
			return false
		}
	}
	return true
}

// judgeBlocked judges an outage in which nothing succeeded: one success is wanted at least, for single failures have other reasons. A
// server that fails without any outage too, such as by its deadline on a busy machine, proves nothing. A refusal is a violation already.
func (ix *index) judgeBlocked(blocked []*attempt, s *sheet) {
	if len(blocked) == 0 || s.count > 0 {
		return
	}
	text := fmt.Sprintf("None of %d tier 2 requests proceeded while the key store was out.", len(blocked))
	if ix.failsAnyway() {
		s.doubt = text + " Others failed that did not lack their store, so this does not show why."
		return
	}
	v := blocked[0].op.scope.violation(text, blocked[:min(len(blocked), maxRefs)]...)
	v.Expected, v.Seen = "requests proceed without dedup", "the first was answered "+blocked[0].describe()
	s.violateIn(ix.outagesOver(blocked...), v)
}
