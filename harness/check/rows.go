package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
)

// maxRefs bounds the operations and the rows shown for one counterexample; sentences have the full counts.
const maxRefs = 8

func row(table, id string, pairs ...string) history.Row {
	r := history.Row{Table: table, ID: id, Fields: map[string]string{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" && pairs[i+1] != "0" {
			r.Fields[pairs[i]] = pairs[i+1]
		}
	}
	return r
}

func number[N int | int32 | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

func orderRow(o *evidence.Order) history.Row {
	if o.Columns != nil {
		return foreignRow(o)
	}
	return row("orders", o.ID, "execution", o.Execution, "leg", number(o.Leg), "user", number(o.User), "endpoint", o.Endpoint,
		"key", o.Key, "operation", number(o.Operation), "symbol", o.Symbol, "side", o.Side, "quantity", number(o.Quantity),
		"amount_cents", number(o.AmountCents), "status", o.Status, "at", o.At)
}

// foreignRow is a row of somebody else's, in its own words.
func foreignRow(o *evidence.Order) history.Row {
	r := row("executions", o.ID)
	for name, value := range o.Columns {
		if value != "" {
			r.Fields[name] = shorten(value)
		}
	}
	return r
}

func auditRow(a *evidence.Audit) history.Row {
	return row("audits", a.ID, "execution", a.Execution, "user", number(a.User), "endpoint", a.Endpoint, "key", a.Key,
		"operation", number(a.Operation), "action", a.Action, "hash", a.Hash, "code", number(a.Code), "at", a.At)
}

func recordRow(r *evidence.Record) history.Row {
	return row("records", r.ID, "key", r.Key, "user", number(r.User), "endpoint", r.Endpoint, "status", r.Status,
		"hash", r.Hash, "code", number(r.Code), "body", shorten(r.Body), "created_us", number(r.CreatedUS),
		"locked_us", number(r.LockedUS), "expires_us", number(r.ExpiresUS))
}

func chargeRow(c *evidence.Charge) history.Row {
	return row("charges", c.ID, "key", c.Key, "user", number(c.User), "amount_cents", number(c.AmountCents),
		"operation", number(c.Operation))
}

// shorten keeps a body short enough to stand in a sentence.
func shorten(s string) string {
	const most = 400
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}

// String names a scope the way a person would: "Key 3f… of user 4 on POST /api/trading/orders".
func (s *scope) String() string {
	subject := "A request without a valid key"
	if s.key != "" {
		subject = "Key " + s.key
	}
	return fmt.Sprintf("%s of user %d on %s", subject, s.user, s.endpoint)
}

// violation starts a counterexample about this scope: seen are the attempts that show it, in any order.
func (s *scope) violation(sentence string, seen ...*attempt) violation {
	return violation{
		Sentence: sentence, Key: s.key, User: s.user, Endpoint: s.endpoint, Ops: refs(seen), AtNS: seenBy(seen),
	}
}

// seenBy is when the last of some attempts had been answered, or was sent if it never was.
func seenBy(attempts []*attempt) (at int64) {
	for _, a := range attempts {
		switch {
		case a == nil:
		case a.returned():
			at = max(at, a.done)
		default:
			at = max(at, a.sent)
		}
	}
	return at
}

// refs points at attempts in the order of sending.
func refs(seen []*attempt) (list []history.Ref) {
	seen = slices.DeleteFunc(slices.Clone(seen), func(a *attempt) bool { return a == nil })
	slices.SortStableFunc(seen, func(a, b *attempt) int { return compare(a.sent, b.sent) })
	for _, a := range slices.Compact(seen) {
		if len(list) < maxRefs {
			list = append(list, a.ref())
		}
	}
	return list
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// attemptsOf are the attempts of the given operations; of a row without an operation, the acknowledged ones.
func (s *scope) attemptsOf(list []execution) (found []*attempt) {
	ids := map[int64]bool{}
	for _, e := range list {
		ids[e.op] = true
	}
	for i := range s.attempts {
		a := &s.attempts[i]
		if ids[a.op.id] || (ids[0] && a.acked()) {
			found = append(found, a)
		}
	}
	return found
}

// shownRows are the rows of several executions, at most maxRefs.
func shownRows(list []execution) (rows []history.Row) {
	for _, e := range list {
		rows = append(rows, e.shown()...)
	}
	return rows[:min(len(rows), maxRefs)]
}

// listIDs names rows in a sentence: "orders 17 and 18".
func listIDs(rows []history.Row) string {
	if len(rows) == 0 {
		return "no rows"
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	n := len(ids)
	if n == 1 {
		return strings.TrimSuffix(rows[0].Table, "s") + " " + ids[0]
	}
	return rows[0].Table + " " + strings.Join(ids[:n-1], ", ") + " and " + ids[n-1]
}

func rowsOf(rows ...history.Row) []history.Row { return rows }
