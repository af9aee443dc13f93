package check

import (
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
)

// execution is one committed run of a business action, as rows show it.
type execution struct {
	op   int64  // 0 when the rows do not say
	id   string // its identity; "" when the rows have none
	at   string
	legs int
	rows []source
}

// source is a row of the evidence that shows an execution: one of the three. Few executions are ever shown, so few rows are written out.
type source struct {
	order  *evidence.Order
	audit  *evidence.Audit
	charge *evidence.Charge
}

func (s source) row() history.Row {
	switch {
	case s.order != nil:
		return orderRow(s.order)
	case s.audit != nil:
		return auditRow(s.audit)
	}
	return chargeRow(s.charge)
}

// shown are the rows behind an execution.
func (e execution) shown() (rows []history.Row) {
	for _, s := range e.rows {
		rows = append(rows, s.row())
	}
	return rows
}

func orderExecution(o *evidence.Order) execution {
	return execution{op: o.Operation, id: o.Execution, at: o.At}
}

// orderExecutions groups a scope's order rows into executions. Legs of one execution share its identity; the same leg twice under
// one identity is two executions.
func (s *scope) orderExecutions() []execution {
	legs := 1
	if s.route != nil {
		legs = max(1, s.route.Evidence.Orders)
	}
	return groupOrders(s.orders, legs)
}

func groupOrders(orders []*evidence.Order, legs int) []execution {
	if len(orders) == 1 { // as a rule
		e := orderExecution(orders[0])
		e.legs, e.rows = 1, []source{{order: orders[0]}}
		return []execution{e}
	}
	type slot struct {
		execution string
		op        int64
		round     int
	}
	seen := map[slot]int{}
	used := map[slot]map[int]int{}
	var list []execution
	for _, o := range orders {
		base := slot{execution: o.Execution, op: o.Operation}
		if used[base] == nil {
			used[base] = map[int]int{}
		}
		round := used[base][o.Leg]
		if o.Leg == 0 { // legs without numbers are dealt out in the order of the rows
			round /= legs
		}
		used[base][o.Leg]++
		base.round = round
		i, ok := seen[base]
		if !ok {
			i = len(list)
			seen[base] = i
			list = append(list, orderExecution(o))
		}
		list[i].legs++
		list[i].rows = append(list[i].rows, source{order: o})
	}
	return list
}

// auditExecutions are a scope's business audit rows, of the actions that the route names, by execution. Two rows of one execution
// count once here: order-audit-match counts rows.
func (s *scope) auditExecutions() []execution {
	var seen map[string]int // of several rows
	if len(s.audits) > 1 {
		seen = map[string]int{}
	}
	var list []execution
	for _, a := range s.audits {
		if !s.business(a) {
			continue
		}
		if i, ok := seen[a.Execution]; ok && a.Execution != "" {
			list[i].rows = append(list[i].rows, source{audit: a})
			continue
		}
		if seen != nil {
			seen[a.Execution] = len(list)
		}
		list = append(list, auditExecution(a))
	}
	return list
}

func auditExecution(a *evidence.Audit) execution {
	return execution{op: a.Operation, id: a.Execution, at: a.At, rows: []source{{audit: a}}}
}

// business says whether an audit row stands for an execution of the route's action.
func (s *scope) business(a *evidence.Audit) bool {
	return s.route == nil || len(s.route.Actions) == 0 || slices.Contains(s.route.Actions, a.Action)
}

// executions is what the rows say was executed: orders where the route writes them, audit rows otherwise. known is false when
// no query reads them.
func (ix *index) executions(s *scope) (list []execution, known bool) {
	switch {
	case s.route == nil, s.gone:
		return nil, false
	case s.route.Evidence.Orders > 0 && ix.set.Orders != nil:
		return s.orderExecutions(), true
	case ix.set.Audits != nil:
		return s.auditExecutions(), true
	}
	return nil, false
}

// withinOneLife keeps the executions that follow another one while its record must still have been alive. An execution a whole
// TTL after the first of its life begins a new life: an expired key may run again.
func withinOneLife(list []execution, ttl, margin time.Duration) []execution {
	if len(list) < 2 {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b execution) int { return parseTime(a.at).Compare(parseTime(b.at)) })
	life := list[:1]
	for _, e := range list[1:] {
		began := parseTime(life[0].at)
		if ttl > 0 && !began.IsZero() && parseTime(e.at).Sub(began) >= ttl-margin {
			if len(life) > 1 {
				return life
			}
			life = nil
		}
		life = append(life[:len(life):len(life)], e)
	}
	return life
}

// parseTime reads a row's time; the zero time when it has none.
func parseTime(at string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return time.Time{}
	}
	return t
}
