package check

import (
	"fmt"
	"net/http"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
)

var failClosed = Invariant{
	ID:      "fail-closed",
	Meaning: "on tier 1 an outage of the key store is answered 503 within the deadline, and nothing is executed",
	Unit:    "tier 1 attempts inside an outage",
	ByFault: true,
	judge: func(ix *index, s *sheet) {
		s.skipped = "no tier 1 attempt lay inside a total outage of the key store"
		var late []*attempt
		for _, sc := range ix.scopes {
			if sc.key == "" || sc.user <= 0 || !sc.protected(contract.TierClosed) || sc.off {
				continue
			}
			for i := range sc.attempts {
				a := &sc.attempts[i]
				if w := ix.outageOver(a); w != nil {
					s.lookIn(ix.outagesOver(a))
					ix.judgeClosed(a, w, s)
					if ix.late(a) {
						late = append(late, a)
					}
				}
			}
			ix.judgeExecutedInside(sc, s)
		}
		ix.judgeLate(late, s)
	},
}

func (ix *index) judgeClosed(a *attempt, w *window, s *sheet) {
	if a.returned() && !refusedInOutage(a, w) {
		sc := a.op.scope
		v := sc.violation(fmt.Sprintf("%s was answered %s to operation %d during %s.", sc, a.describe(), a.op.id, w.name), a)
		v.Expected, v.Seen = "503, the key store is out", a.describe()
		s.violateIn(ix.outagesOver(a), v)
	}
}

// late says whether the server took longer than its own deadline allows, with the scenario's slack; a client that hung up earlier
// proves nothing.
func (ix *index) late(a *attempt) bool {
	return ix.contract.Deadline > 0 && time.Duration(a.done-a.sent) > ix.contract.Deadline+ix.limits.Slack
}

// judgeLate accuses nobody of being late on a machine where requests are late without an outage too.
func (ix *index) judgeLate(late []*attempt, s *sheet) {
	if len(late) == 0 {
		return
	}
	bound := ix.contract.Deadline + ix.limits.Slack
	for _, sc := range ix.scopes {
		for i := range sc.attempts {
			if a := &sc.attempts[i]; ix.late(a) && ix.outageOver(a) == nil {
				s.doubt = fmt.Sprintf("%d refusals took longer than %s, and so did requests outside the outage: this does not show why",
					len(late), bound)
				return
			}
		}
	}
	for _, a := range late {
		took := time.Duration(a.done - a.sent).Round(time.Millisecond)
		v := a.op.scope.violation(fmt.Sprintf("%s kept operation %d waiting for %s in an outage.", a.op.scope, a.op.id, took), a)
		v.Expected, v.Seen = "an answer within "+bound.String(), fmt.Sprintf("%s after %s", a.describe(), took)
		s.violateIn(ix.outagesOver(a), v)
	}
}

// refusedInOutage accepts what comes before the claim too (authentication, gates, bad requests): a 503 is a refusal in whatever
// words, and rows show if it was none. Where the outage has taken the handlers' own database along, any 5xx will do.
func refusedInOutage(a *attempt, w *window) bool {
	switch a.answer() {
	case contract.AnswerStoreDown, contract.AnswerGated, contract.AnswerRejected:
		return true
	}
	return a.status == http.StatusServiceUnavailable || w.database && a.status >= http.StatusInternalServerError
}

// judgeExecutedInside looks for executions by operations that can only have run during an outage, or that were refused for it
// every time.
func (ix *index) judgeExecutedInside(sc *scope, s *sheet) {
	list, _ := ix.executions(sc)
	for _, e := range list {
		op := ix.operation(e.op)
		if op == nil || op.scope != sc || !ix.onlyInside(sc, op) {
			continue
		}
		v := sc.violation(fmt.Sprintf("%s was executed (%s) by operation %d, which was only ever sent while the key store was out.",
			sc, listIDs(e.shown()), op.id), sc.attemptsOf([]execution{e})...)
		v.Rows, v.Expected, v.Seen = e.shown(), "nothing executed", "1 execution"
		s.violateIn(sc.faults, v)
	}
}

// onlyInside says whether no attempt of the operation can have reached the store. An attempt without an answer may be at work
// until the server's deadline, so its outage has to last beyond that.
func (ix *index) onlyInside(sc *scope, op *operation) bool {
	found := false
	for i := range sc.attempts {
		a := &sc.attempts[i]
		if a.op != op {
			continue
		}
		found = true
		if a.answer() == contract.AnswerStoreDown {
			continue
		}
		w := ix.outageOver(a)
		if w == nil || (!a.returned() && w.healing != forever && a.done+ix.margin() > w.healing) {
			return false
		}
	}
	return found
}
