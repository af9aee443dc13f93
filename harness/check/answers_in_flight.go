package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// crowdsOf are the answered operations of a situation that were sent at one instant, by key.
func (ix *index) crowdsOf(s contract.Situation) (crowds [][]*attempt) {
	for _, sc := range ix.scopes {
		var crowd []*attempt
		for _, op := range sc.ops {
			if a := op.probing(s); a != nil {
				crowd = append(crowd, a)
			}
		}
		if len(crowd) > 1 {
			crowds = append(crowds, crowd)
		}
	}
	return crowds
}

func (op *operation) probing(s contract.Situation) *attempt {
	if !op.once || op.spelled() != s.Probe() {
		return nil
	}
	return op.answered()
}

// judgeInFlight looks at equal requests of one instant. All of them may succeed where the first had ended before the others were looked at;
// where that is so of every slow request, duplicates wait.
func (ix *index) judgeInFlight(p contract.Promise, sh *sheet) {
	refused, slow := 0, []*attempt(nil)
	for _, crowd := range ix.crowdsOf(p.Situation) {
		for _, a := range crowd {
			sh.look()
			switch {
			case a.status/100 == 2:
			case overloaded(a) && !slices.Contains(p.Status, int(a.status)):
				sh.doubt = fmt.Sprintf("operation %d was answered %d, which does not show how it treats keys", a.op.id, a.status)
			case p.Does == contract.Refuses && notRefused(p, a) == "":
				refused++
			default:
				sh.violate(a.op.scope.untreated(p, fmt.Sprintf("%d %s", a.status, a.errorCode()), a))
			}
		}
		if first := fastest(crowd); first != nil && first.done-first.sent >= slowEnough {
			slow = append(slow, crowd...)
		}
	}
	switch {
	case p.Does != contract.Refuses || refused > 0 || sh.looked == 0 || sh.count > 0:
	case len(slow) == 0:
		sh.doubt = fmt.Sprintf("no duplicate met its first request in flight: slow_body was answered within %s; write one that takes longer", time.Duration(slowEnough))
	default:
		seen := fmt.Sprintf("no refusal among %d requests of one instant: duplicates wait", len(slow))
		sh.violate(slow[0].op.scope.untreated(p, seen, slow[:min(3, len(slow))]...))
	}
}

// fastest is the successful answer that came first; nil if there is none.
func fastest(crowd []*attempt) (first *attempt) {
	for _, a := range crowd {
		if a.status/100 == 2 && (first == nil || a.done < first.done) {
			first = a
		}
	}
	return first
}

// judgeOtherInFlight looks at two different requests of one instant. Whoever comes second is another request under the key, in flight or just
// after it.
func (ix *index) judgeOtherInFlight(p contract.Promise, sh *sheet) {
	later := ix.contract.Promise(contract.OtherRequest)
	for _, crowd := range ix.crowdsOf(p.Situation) {
		winner := fastest(crowd)
		if winner == nil {
			continue
		}
		for _, a := range crowd {
			if a.op.request == winner.op.request || overloaded(a) && !slices.Contains(p.Status, int(a.status)) {
				continue
			}
			sh.look()
			if !allowedBeside(p, later, a) {
				sh.violate(a.op.scope.untreated(p, fmt.Sprintf("%d %s", a.status, a.errorCode()), winner, a))
			}
		}
	}
}

// allowedBeside says whether an answer is one for another request in flight, or after it.
func allowedBeside(inFlight, later contract.Promise, a *attempt) bool {
	return slices.ContainsFunc([]contract.Promise{inFlight, later}, func(p contract.Promise) bool {
		switch p.Does {
		case contract.Refuses:
			return notRefused(p, a) == ""
		case contract.Replays:
			return a.status/100 == 2
		}
		return p.Does == contract.Unstated
	})
}
