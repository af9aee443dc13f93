package check

import (
	"fmt"
	"slices"

	"github.com/idemstorm/idemstorm/harness/history"
)

// judgeCut wants nothing to have come of requests that were never sent whole. It can tell where no whole one of the key can have taken it: whatever
// is there then, an order or a record or an answer that shows one, a part of a request has made.
func (s *scope) judgeCut(sh *sheet) {
	sh.look()
	for i := range s.attempts {
		if s.attempts[i].mayClaim() {
			return
		}
	}
	rows := s.traces()
	for _, e := range slices.Concat(s.auditExecutions(), chargeExecutions(s.charges)) {
		rows = append(rows, e.shown()...)
	}
	answered := s.recordShown()
	if len(rows) == 0 && answered == nil {
		return
	}
	cut := &s.cut[0]
	v := s.violation(fmt.Sprintf("%s was used by operation %d, of whose request only the first %d bytes were ever sent.", s, cut.op.id, cut.bytes), cut, answered)
	v.Rows, v.Expected, v.Seen = rows[:min(len(rows), maxRefs)], "no record, nothing executed", listIDs(rows)
	if answered != nil {
		v.Seen += ", and the answer " + answered.describe()
	}
	sh.violate(v)
}

// recordShown is the first attempt whose answer shows a record; nil if there is none.
func (s *scope) recordShown() *attempt {
	for i := range s.attempts {
		if a := &s.attempts[i]; a.returned() && a.recordSeen() {
			return a
		}
	}
	return nil
}

// addCut keeps what was sent of a request in part. It takes no part in the key's life.
func (op *operation) addCut(e *history.Attempt) {
	a := attempt{op: op, n: int32(e.N), sent: e.SentNS, done: e.DoneNS, out: cutShort, settle: e.Settle, bytes: int32(e.BytesSent)}
	op.scope.cut = append(op.scope.cut, a)
}
