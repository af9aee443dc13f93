package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
)

var failOpen = Invariant{
	ID:      "fail-open",
	Meaning: "on tier 2 requests proceed while only the key store is out",
	Unit:    "tier 2 attempts inside an outage",
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
				s.look()
				proceeded = proceeded || a.answer == contract.AnswerFresh
				if a.answer == contract.AnswerStoreDown {
					v := sc.violation(fmt.Sprintf("%s refused operation %d during %s.", sc, a.op.id, w.name), a)
					v.Expected, v.Seen = "the request proceeds without dedup", a.describe()
					s.violate(v)
				}
				blocked = append(blocked, a)
			}
		}
		judgeProceeded(blocked, proceeded, s)
	},
}

// databaseOut says whether the handlers' own database was struck too while the attempt ran: then it may fail for that.
func (ix *index) databaseOut(a *attempt) bool {
	m := ix.margin()
	for _, w := range ix.windows {
		if w.database && a.done >= w.began-m && (w.healed == forever || a.sent <= w.healed+m) {
			return true
		}
	}
	return false
}

// judgeProceeded wants one success at least. Single failures have other reasons, and a refusal is a violation already.
func judgeProceeded(blocked []*attempt, proceeded bool, s *sheet) {
	if proceeded || len(blocked) == 0 || s.count > 0 {
		return
	}
	sc := blocked[0].op.scope
	v := sc.violation(fmt.Sprintf("None of %d tier 2 requests proceeded while the key store was out.", len(blocked)),
		blocked[:min(len(blocked), maxRefs)]...)
	v.Expected, v.Seen = "requests proceed without dedup", "the first was answered "+blocked[0].describe()
	s.violate(v)
}
