package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

var gatesRespected = Invariant{
	ID:      "gates-respected",
	Meaning: "while a gate is closed nothing is executed, no key is claimed, and no replay slips past it",
	Unit:    "attempts at a closed gate",
	judge: func(ix *index, s *sheet) {
		s.skipped = "no attempt lay inside a time when the gate was closed"
		for _, sc := range ix.scopes {
			if sc.route != nil && sc.route.Gated {
				ix.judgeGate(sc, s)
			}
		}
	},
}

func (ix *index) judgeGate(sc *scope, s *sheet) {
	inside := 0
	for i := range sc.attempts {
		a := &sc.attempts[i]
		if !ix.surely(flagGate, true, a.sent, a.done) {
			continue
		}
		inside++
		s.look()
		if a.returned() && a.answer() != contract.AnswerGated && a.answer() != contract.AnswerRejected {
			v := sc.violation(fmt.Sprintf("%s was answered %s to operation %d while the gate was closed.", sc, a.describe(), a.op.id), a)
			v.Expected, v.Seen = "503, the gate is closed", a.describe()
			s.violate(v)
		}
	}
	if inside == 0 || inside < len(sc.attempts) {
		return
	}
	if rows := sc.traces(); len(rows) > 0 {
		v := sc.violation(fmt.Sprintf("%s left %s, though it was only sent while the gate was closed.", sc, listIDs(rows)), &sc.attempts[0])
		v.Rows, v.Expected, v.Seen = rows, "no execution and no claim", listIDs(rows)
		s.violate(v)
	}
}

// traces are the rows that only a claim or an execution leaves.
func (s *scope) traces() (rows []history.Row) {
	for _, o := range s.orders {
		rows = append(rows, orderRow(o))
	}
	for _, r := range s.records {
		rows = append(rows, recordRow(r))
	}
	return rows[:min(len(rows), maxRefs)]
}
