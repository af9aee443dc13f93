package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/evidence"
)

var atMostOnce = Invariant{
	ID:      "at-most-once",
	Meaning: "no key of a user on an endpoint is executed more than once, by orders, audit rows and the provider's ledger alike",
	Unit:    "keys",
	Needs:   []Need{NeedExecutions},
	ByFault: true,
	judge: func(ix *index, s *sheet) {
		for _, sc := range ix.scopes {
			if sc.deduplicates() && !sc.erased {
				s.lookIn(sc.faults)
				ix.judgeOnce(sc, s)
			}
		}
	},
}

// judgeOnce looks at one key. While the key store is out, tier 2 promises no dedup by the key, but the provider still does by
// the forwarded one (contract, section 6.7); with the middleware off nobody promises anything.
func (ix *index) judgeOnce(sc *scope, s *sheet) {
	if sc.off {
		return
	}
	if !sc.failedOpen() {
		for _, list := range [][]execution{sc.orderExecutions(), sc.auditExecutions()} {
			if twice := withinOneLife(list, sc.route.TTL, ix.contract.Deadline); len(twice) > max(1, sc.lives) {
				s.violateIn(sc.faults, sc.executedTwice(twice))
				return
			}
		}
	}
	if charges := chargeExecutions(sc.charges); len(charges) > 1 && !sc.expiring {
		s.violateIn(sc.faults, sc.executedTwice(charges))
	}
}

func (s *scope) executedTwice(list []execution) (v violation) {
	rows := shownRows(list)
	what := "executed"
	if rows[0].Table == "charges" {
		what = "charged"
	}
	v = s.violation(fmt.Sprintf("%s was %s %d times: %s.", s, what, len(list), listIDs(rows)), s.attemptsOf(list)...)
	v.Rows = rows
	v.Expected = "at most 1 execution"
	v.Seen = fmt.Sprintf("%d executions", len(list))
	return v
}

func chargeExecutions(charges []*evidence.Charge) (list []execution) {
	for _, c := range charges {
		list = append(list, execution{op: c.Operation, rows: []source{{charge: c}}})
	}
	return list
}
