package check

import (
	"fmt"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

var ackedDurable = Invariant{
	ID:      "acked-durable",
	Meaning: "what the client was told is done is there after every fault has healed, exactly once and with all its legs",
	Unit:    "acknowledged keys",
	Needs:   []Need{NeedBacking},
	ByFault: true,
	judge: func(ix *index, s *sheet) {
		s.doubt = ix.nothingLost()
		for _, sc := range ix.lives {
			if sc.route == nil || sc.any(contract.AnswerFresh, contract.AnswerReplay, contract.AnswerDone) == nil {
				continue
			}
			if sc.key == "" && ix.contract.Foreign { // its rows name no key
				continue
			}
			if sc.route.Evidence.Orders > 0 && ix.set.Orders != nil {
				s.lookIn(sc.faults)
				ix.judgeOrdered(sc, s)
			}
			if sc.route.Evidence.Charge && ix.set.Charges != nil {
				s.lookIn(sc.faults)
				sc.judgeCharged(s)
			}
		}
	},
}

// judgeOrdered wants one whole execution behind a key, and one behind each fresh answer of an operation without one.
func (ix *index) judgeOrdered(sc *scope, s *sheet) {
	if sc.gone { // on the list of what the scenario allows to be lost
		return
	}
	list := sc.orderExecutions()
	want := sc.route.Evidence.Orders
	for _, e := range list {
		if e.legs != want {
			s.missing(sc, []execution{e}, fmt.Sprintf("%d of %d order rows", e.legs, want))
			return
		}
	}
	fresh := sc.count(contract.AnswerFresh)
	switch {
	case len(list) == 0:
		s.missing(sc, nil, "no order")
	case sc.key == "" && len(list) < fresh:
		s.missing(sc, list, fmt.Sprintf("%d orders for %d answers", len(list), fresh))
	case sc.undisturbed() && len(list) > 1:
		s.violateIn(sc.faults, sc.unbacked(list, fmt.Sprintf("%d executions", len(list))))
	}
}

func (s *scope) judgeCharged(sh *sheet) {
	if len(s.charges) == 0 {
		sh.missing(s, nil, "no charge in the provider's ledger")
	} else if len(s.charges) > 1 && s.deduplicates() && !s.off && !s.expiring && !s.erased {
		sh.violateIn(s.faults, s.unbacked(chargeExecutions(s.charges), fmt.Sprintf("%d charges", len(s.charges))))
	}
}

// missing convicts of an acknowledgement behind which nothing stands, or not all of it.
func (s *sheet) missing(sc *scope, list []execution, seen string) {
	s.violateIn(sc.faults, sc.unbacked(list, seen))
	s.tally(sc.faults, func(t *verdict.FaultTally) { t.Missing++ })
}

func (s *scope) unbacked(list []execution, seen string) (v violation) {
	acked := s.any(contract.AnswerFresh, contract.AnswerReplay, contract.AnswerDone)
	v = s.violation(fmt.Sprintf("%s was acknowledged with %d, and behind it there is this: %s.", s, acked.status, seen), acked)
	v.Rows = shownRows(list)
	v.Expected = "exactly 1 execution: " + left(s.route.Evidence)
	v.Seen = seen
	return v
}

// left says what one execution leaves behind.
func left(e contract.Evidence) string {
	var parts []string
	switch {
	case e.Orders == 1:
		parts = append(parts, "1 order row")
	case e.Orders > 1:
		parts = append(parts, fmt.Sprintf("%d order rows", e.Orders))
	}
	if e.Charge {
		parts = append(parts, "1 charge at the provider")
	}
	return strings.Join(append(parts, "1 audit row"), ", ")
}
