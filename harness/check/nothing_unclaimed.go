package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
)

var nothingUnclaimed = Invariant{
	ID:      "nothing-unclaimed",
	Meaning: "on tier 1 nothing is executed under a key without that key's record",
	Unit:    "executed keys",
	Needs:   []Need{NeedExecutions, NeedRecords},
	judge: func(ix *index, s *sheet) {
		for _, sc := range ix.scopes {
			list, known := ix.executions(sc)
			if !known || len(list) == 0 || !sc.undisturbed() || !sc.protected(contract.TierClosed) || len(sc.attempts) == 0 {
				continue
			}
			s.look()
			if len(sc.records) == 0 {
				v := sc.violation(fmt.Sprintf("%s was executed (%s) and has no idempotency record.", sc, listIDs(shownRows(list))),
					sc.attemptsOf(list)...)
				v.Rows, v.Expected, v.Seen = shownRows(list), "a completed record", "none"
				s.violate(v)
			}
		}
	},
}
