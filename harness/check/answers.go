package check

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// foreignInvariants are judged of somebody else's server alone: one for each row of its contract's table, and whether its evidence agrees.
var foreignInvariants = append(situationInvariants(), evidenceAgrees)

func situationInvariants() (list []Invariant) {
	for _, s := range contract.Situations {
		list = append(list, Invariant{
			ID: s.Invariant(), Meaning: s.Meaning() + " is treated as the contract says", Unit: "requests",
			judge: func(ix *index, sh *sheet) { ix.judgeSituation(s, sh) },
		})
	}
	return list
}

func (ix *index) judgeSituation(s contract.Situation, sh *sheet) {
	p := ix.contract.Promise(s)
	switch s {
	case contract.StoreUnreachable:
		ix.judgeUnreachable(p, sh)
	case contract.SameInFlight:
		ix.judgeInFlight(p, sh)
	case contract.OtherInFlight:
		ix.judgeOtherInFlight(p, sh)
	default:
		for i := range ix.ops.Len() {
			if op := ix.ops.At(i); op.once && op.spelled() == s.Probe() {
				ix.judgeProbe(p, op, sh)
			}
		}
	}
}

// judgeProbe holds the one answer of an operation against what is promised.
func (ix *index) judgeProbe(p contract.Promise, op *operation, sh *sheet) {
	a := op.answered()
	if a == nil {
		return
	}
	first := ix.beginning(p.Situation, op)
	if why := unfit(p.Situation, first); why != "" {
		sh.doubt = why
		return
	}
	if overloaded(a) && !slices.Contains(p.Status, int(a.status)) {
		sh.doubt = fmt.Sprintf("operation %d was answered %d: whoever is out of service for a moment does not show how it treats keys", op.id, a.status)
		return
	}
	sh.look()
	if seen := ix.breaks(p, a, first); seen != "" {
		sh.violate(op.scope.untreated(p, seen, first, a))
	}
}

// overloaded says whether an answer may come from anywhere on the way, and at any time.
func overloaded(a *attempt) bool {
	return slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, int(a.status))
}

// answered is the only attempt of an operation; nil if it has no answer.
func (op *operation) answered() *attempt {
	if a := op.scope.firstOf(op); a != nil && a.returned() {
		return a
	}
	return nil
}

// beginning is what a situation begins with under an operation's key, whoever sent it; nil if it needs no beginning.
func (ix *index) beginning(s contract.Situation, op *operation) *attempt {
	if op.scope.key == "" {
		return nil
	}
	for i := range ix.ops.Len() {
		if first := ix.ops.At(i); first.once && first.spelled() == s.First() && first.scope.key == op.scope.key {
			return first.scope.firstOf(first)
		}
	}
	return nil
}

// unfit says why what a situation begins with is no beginning of it.
func unfit(s contract.Situation, first *attempt) string {
	wanted := map[contract.Situation]struct {
		class int
		field string
	}{
		contract.Repeated: {2, "request.body"}, contract.OtherRequest: {2, "request.body"}, contract.OtherUser: {2, "request.body"},
		contract.AfterRefusal: {4, "refused_body"}, contract.AfterFailure: {5, "failing_body"},
	}[s]
	if wanted.class == 0 || first != nil && first.returned() && int(first.status)/100 == wanted.class {
		return ""
	}
	seen := "not answered"
	if first != nil && first.returned() {
		seen = fmt.Sprintf("answered %d", first.status)
	}
	return fmt.Sprintf("a fresh request with %s was %s, and this begins with one that is answered %dxx: see to that field of the target file", wanted.field, seen, wanted.class)
}

// breaks says in what an answer is not what was promised; "" if it is.
func (ix *index) breaks(p contract.Promise, a, first *attempt) string {
	switch p.Does {
	case contract.Executes:
		return ix.notExecuted(p, a, first)
	case contract.Replays:
		return ix.notReplayed(p, a, first)
	case contract.Refuses:
		return notRefused(p, a)
	}
	return ""
}

// notExecuted: whoever tries again after a failure may fail again.
func (ix *index) notExecuted(p contract.Promise, a, first *attempt) string {
	again := first != nil && a.status == first.status
	switch {
	case !p.Allows(int(a.status)) && !again:
		return fmt.Sprintf("%d, which is not what an execution is answered", a.status)
	case a.marked:
		return fmt.Sprintf("%d, marked as a replay", a.status)
	case p.Situation == contract.OtherUser && ix.set.Orders != nil && a.acked() && len(a.op.scope.orders) == 0:
		return fmt.Sprintf("%d, and nothing was executed for this user", a.status)
	}
	return ""
}

func (ix *index) notReplayed(p contract.Promise, a, first *attempt) string {
	switch {
	case first == nil:
		return ""
	case len(p.Status) > 0 && !p.Allows(int(a.status)):
		return fmt.Sprintf("%d", a.status)
	case len(p.Status) == 0 && a.status != first.status:
		return fmt.Sprintf("%d, and the first answer was %d", a.status, first.status)
	case len(p.Status) == 0 && a.body != first.body:
		return fmt.Sprintf("%d with another body than the first answer's", a.status)
	case ix.contract.Marker.Stated() && !a.marked:
		return fmt.Sprintf("%d without %s: %s", a.status, ix.contract.Marker.Header, ix.contract.Marker.Value)
	}
	return ""
}

func notRefused(p contract.Promise, a *attempt) string {
	switch {
	case !p.Allows(int(a.status)):
		return fmt.Sprintf("%d", a.status)
	case p.Code != "" && a.errorCode() != p.Code:
		return fmt.Sprintf("%d with the error %q", a.status, a.errorCode())
	case a.op.scope.key == "" && len(a.op.scope.orders) > 0:
		return fmt.Sprintf("%d, and it was executed all the same: %s", a.status, listIDs(shownRows(a.op.scope.orderExecutions())))
	}
	return ""
}

// untreated is the counterexample of a situation that is treated otherwise than promised.
func (s *scope) untreated(p contract.Promise, seen string, attempts ...*attempt) (v violation) {
	last := attempts[len(attempts)-1]
	v = s.violation(fmt.Sprintf("%s: %s (operation %d) was answered %s.", s, p.Situation.Meaning(), last.op.id, seen), attempts...)
	v.Expected, v.Seen = p.String(), seen
	return v
}

// errorCode is the JSON member "error" of an answer; nil if it has none.
func errorCode(body []byte) *string {
	var fields struct{ Error *string }
	_ = json.Unmarshal(body, &fields) // a body of another form has none
	return fields.Error
}

// errorCode is that of the answer, "" where it has none or was not asked for it.
func (a *attempt) errorCode() string {
	if a.code == nil {
		return ""
	}
	return *a.code
}

// judgeUnreachable looks at every request that was sent and answered while nothing reached the database.
func (ix *index) judgeUnreachable(p contract.Promise, sh *sheet) {
	for _, sc := range ix.scopes {
		for i := range sc.attempts {
			a := &sc.attempts[i]
			if sc.key == "" || !a.returned() || !ix.cutOff(a) {
				continue
			}
			sh.look()
			if p.Does == contract.Refuses && !p.Allows(int(a.status)) || p.Does == contract.Executes && a.status/100 != 2 {
				sh.violate(sc.untreated(p, fmt.Sprintf("%d", a.status), a))
			}
		}
	}
}

// cutOff says whether an attempt lies wholly inside a time when no path reached the database.
func (ix *index) cutOff(a *attempt) bool {
	for i := range ix.windows {
		if w := &ix.windows[i]; w.total && w.database && w.spans(a) {
			return true
		}
	}
	return false
}

// slowEnough is how long a request must take for its duplicates of the same instant to meet it in flight, whatever the machine is busy with.
const slowEnough = int64(100 * time.Millisecond)
