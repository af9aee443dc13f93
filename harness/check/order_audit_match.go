package check

import (
	"fmt"
)

var orderAuditMatch = Invariant{
	ID:      "order-audit-match",
	Meaning: "every executed order has its one business audit row, and every such row its order",
	Unit:    "executions",
	Needs:   []Need{NeedOrders, NeedAudits},
	judge: func(ix *index, s *sheet) {
		for _, sc := range ix.scopes {
			if len(sc.orders) > 0 || (sc.route != nil && sc.route.Evidence.Orders > 0) {
				sc.judgeAudited(s)
			}
		}
	},
}

// audited is what orders and audit rows say about one execution.
type audited struct {
	orders, audits []execution
}

// judgeAudited pairs the rows of one scope by the execution's identity. Where a subject does not store one, the operation stands
// for it.
func (s *scope) judgeAudited(sh *sheet) {
	if len(s.orders) == 1 && len(s.audits) == 1 && s.business(s.audits[0]) && s.orders[0].Execution == s.audits[0].Execution && s.orders[0].Execution != "" {
		sh.look() // as a rule
		return
	}
	pairs := map[string]*audited{}
	var order []string
	at := func(id string) *audited {
		if pairs[id] == nil {
			pairs[id] = &audited{}
			order = append(order, id)
		}
		return pairs[id]
	}
	for _, e := range s.orderExecutions() {
		p := at(identity(e))
		p.orders = append(p.orders, e)
	}
	for _, a := range s.audits {
		if s.business(a) {
			e := auditExecution(a)
			p := at(identity(e))
			p.audits = append(p.audits, e)
		}
	}
	for _, id := range order {
		sh.look()
		if p := pairs[id]; len(p.orders) != len(p.audits) {
			sh.violate(s.unaudited(p))
		}
	}
}

func identity(e execution) string {
	if e.id != "" && e.id != "0" {
		return e.id
	}
	return "operation " + number(e.op)
}

func (s *scope) unaudited(p *audited) (v violation) {
	orders, audits := shownRows(p.orders), shownRows(p.audits)
	seen := fmt.Sprintf("%d executions in orders (%s), %d business audit rows (%s)",
		len(p.orders), listIDs(orders), len(p.audits), listIDs(audits))
	v = s.violation(fmt.Sprintf("%s left %s.", s, seen), s.attemptsOf(append(p.orders, p.audits...))...)
	v.Rows = append(orders, audits...)
	v.Expected, v.Seen = "as many business audit rows as executions", seen
	return v
}
