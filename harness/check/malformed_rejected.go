package check

import (
	"fmt"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

var malformedRejected = Invariant{
	ID: "malformed-rejected",
	Meaning: "a malformed key is answered 400, leaves no record and executes nothing, and so does a request that was never sent whole; a " +
		"well-formed key is never refused as malformed",
	Unit: "operations with a malformed key and keys with a cut request",
	judge: func(ix *index, s *sheet) {
		records := map[string]*evidence.Record{}
		for i := range ix.set.Records {
			records[ix.set.Records[i].Key] = &ix.set.Records[i]
		}
		for _, sc := range ix.scopes {
			if a := sc.any(contract.AnswerMalformed); a != nil && sc.key != "" {
				v := sc.violation(fmt.Sprintf("%s is well-formed, and operation %d was refused as malformed.", sc, a.op.id), a)
				v.Expected, v.Seen = "the key is accepted", a.describe()
				s.violate(v)
			}
			if len(sc.ops) == 1 && sc.ops[0].malformed && len(sc.attempts) > 0 && sc.route != nil && sc.route.Tier != contract.TierNone && !sc.off {
				s.look()
				sc.judgeMalformed(records, s)
			}
			if len(sc.cut) > 0 && sc.key != "" {
				sc.judgeCut(s)
			}
		}
	},
}

func (s *scope) judgeMalformed(records map[string]*evidence.Record, sh *sheet) {
	op := s.ops[0]
	sent := fmt.Sprintf("Operation %d of user %d on %s, with the malformed key %q,", op.id, s.user, s.endpoint, strings.Join(s.spelled, `", "`))
	if rows := s.traces(); len(rows) > 0 {
		v := s.violation(fmt.Sprintf("%s left %s.", sent, listIDs(rows)), &s.attempts[0])
		v.Rows, v.Expected, v.Seen = rows, "nothing executed", listIDs(rows)
		sh.violate(v)
	}
	for _, key := range s.spelled {
		if r := records[key]; r != nil && key != "" && len(s.spelled) == 1 {
			v := s.violation(fmt.Sprintf("%s left record %s.", sent, r.ID), &s.attempts[0])
			v.Rows, v.Expected, v.Seen = rowsOf(recordRow(r)), "no record", "1"
			sh.violate(v)
		}
	}
	for i := range s.attempts {
		a := &s.attempts[i]
		if a.returned() && !refusedMalformed(a, s) {
			v := s.violation(fmt.Sprintf("%s was answered %s.", sent, a.describe()), a)
			v.Expected, v.Seen = "400, the key is malformed", a.describe()
			sh.violate(v)
			return
		}
	}
}

// refusedMalformed accepts what comes before the key is looked at: authentication and gates; and a server that is in no state to
// look.
func refusedMalformed(a *attempt, s *scope) bool {
	switch a.answer() {
	case contract.AnswerMalformed, contract.AnswerGated:
		return true
	}
	return s.user == 0 && a.status == 401 || s.disturbed && a.status >= 500
}
