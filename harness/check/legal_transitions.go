package check

import (
	"fmt"
	"slices"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

var legalTransitions = Invariant{
	ID:      "legal-transitions",
	Meaning: "each key's answers are a linearization of the contract's state machine, its unknown outcomes resolved by the rows",
	Unit:    "keys",
	Whole:   true,
	judge: func(ix *index, s *sheet) {
		cross := newCrossCheck(ix.limits)
		for _, sc := range ix.lives {
			if len(sc.attempts) == 0 || !sc.undisturbed() || sc.route.Tier == contract.TierNone {
				continue
			}
			s.look()
			life := ix.lifeOf(sc)
			broken := life.judge()
			agreed := cross.agrees(sc, life, broken)
			if broken != nil && agreed {
				s.violate(sc.illegal(broken, life))
			} else if v := sc.badRecord(life); v != nil {
				s.violate(*v)
			}
		}
		s.doubt = cross.doubt()
	},
}

// life is one key's history as the state machine sees it: what the rules judge, and porcupine beside them.
type life struct {
	attempts   []attempt // by time of sending
	executions int       // by the rows; -1 when they are not known
	executed   []int64   // operations that the rows name; nil when they name none for certain
	rows       []execution
	staleAfter int64 // ns; 0 when it is not known
	claims     contract.Claims
	disturbed  bool // a server that refused an action may have failed to mark its record
}

func (ix *index) lifeOf(sc *scope) life {
	l := life{attempts: sc.attempts, executions: -1, staleAfter: int64(ix.contract.StaleAfter), claims: ix.contract.Claims, disturbed: sc.disturbed}
	list, known := ix.executions(sc)
	if !known {
		return l
	}
	l.rows, l.executions = list, len(list)
	l.executed = make([]int64, 0, len(list))
	for _, e := range list {
		if op := ix.operation(e.op); op == nil || !sc.owns(op) {
			l.executed = nil
			return l
		}
		l.executed = append(l.executed, e.op)
	}
	return l
}

// mayExecute says whether the attempt can be the one that executed: its answer leaves it open and no row speaks against it.
func (l *life) mayExecute(a *attempt) bool {
	fresh := a.answer() == contract.AnswerFresh
	if !fresh && (!a.open() || a.answer() == contract.AnswerStoreDown) {
		return false
	}
	if l.executed == nil || slices.Contains(l.executed, a.op.id) {
		return true
	}
	return fresh && len(l.executed) == 0 // acknowledged without a row: acked-durable's case
}

// endsInFlight says whether the attempt, if it claimed, may have left its record in flight.
func (l *life) endsInFlight(a *attempt) bool {
	return a.open() || (l.disturbed && a.answer() == contract.AnswerRejected)
}

// contradiction is what one rule found.
type contradiction struct {
	rule  string
	cause *attempt // nil when the cause is missing
	at    *attempt // nil when only the rows show it
}

func (s *scope) illegal(c *contradiction, l life) (v violation) {
	if c.at == nil {
		v = s.violation(fmt.Sprintf("%s: %s.", s, c.rule), s.attemptsOf(l.rows)...)
		v.Seen = c.rule
	} else {
		v = s.violation(fmt.Sprintf("%s was answered %s to operation %d: %s.", s, c.at.describe(), c.at.op.id, c.rule), c.cause, c.at)
		v.Seen = c.at.describe() + ": " + c.rule
	}
	v.Expected = "an answer that the state machine allows"
	if len(l.rows) > 0 {
		v.Rows = shownRows(l.rows)
	}
	return v
}

// badRecord compares the record that is left with what was executed. A record follows its execution in the same transaction, so
// an executed key's record is completed.
func (s *scope) badRecord(l life) *violation {
	var record *evidence.Record
	for _, r := range s.records {
		record = r
	}
	acked := s.any(contract.AnswerFresh, contract.AnswerReplay)
	if record == nil || record.Status == "completed" || (l.executions < 1 && acked == nil) {
		return nil
	}
	v := s.violation(fmt.Sprintf("%s was executed, and its record says %s.", s, record.Status), append(s.attemptsOf(l.rows), acked)...)
	v.Rows = append(shownRows(l.rows), recordRow(record))
	v.Expected, v.Seen = "completed", record.Status
	return &v
}
