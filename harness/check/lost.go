package check

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// loseOrders says whether an order of this scope was acknowledged in the time of the loss and is gone, and puts it on the list.
func (ix *index) loseOrders(s *scope) bool {
	if s.voided == 0 || s.route == nil || s.route.Evidence.Orders == 0 || ix.set.Orders == nil {
		return false
	}
	acked := s.voidAcks()
	list := s.orderExecutions()
	if len(acked) == 0 || s.torn(list) {
		return false
	}
	if s.key == "" {
		return ix.loseLast(s, acked, s.count(contract.AnswerFresh)-len(list))
	}
	if len(list) > 0 && !s.replaced(acked) {
		return false
	}
	ix.lost = append(ix.lost, ix.lostOrder(s, acked[0], len(list) > 0))
	return true
}

// loseLast takes the latest n: a crash loses the end of what was committed, never the middle.
func (ix *index) loseLast(s *scope, acked []*attempt, n int) bool {
	n = min(n, len(acked))
	for _, a := range acked[len(acked)-max(n, 0):] {
		ix.lost = append(ix.lost, ix.lostOrder(s, a, false))
	}
	return n > 0
}

// voidAcks are the acknowledgements from the time of the loss, in the order of their end. Of a key that was acknowledged while everything was safe,
// or whose order is proven to be there, there are none.
func (s *scope) voidAcks() (list []*attempt) {
	for i := range s.attempts {
		a := &s.attempts[i]
		switch {
		case !a.acked() || a.answer() == contract.AnswerReplay && s.key == "":
		case a.void:
			list = append(list, a)
		case s.key != "" && (a.safe || a.proven):
			return nil
		}
	}
	slices.SortStableFunc(list, func(a, b *attempt) int { return compare(a.done, b.done) })
	return list
}

// torn says whether an execution has some of its rows only: no crash does that to a transaction.
func (s *scope) torn(list []execution) bool {
	return slices.ContainsFunc(list, func(e execution) bool { return e.legs != s.route.Evidence.Orders })
}

// replaced says whether the order that is there is not the one that was acknowledged: its answer, as the record or a later replay has it, is another.
// Where neither has one, the order counts as the acknowledged one.
func (s *scope) replaced(acked []*attempt) bool {
	known := false
	same := func(body uint64) bool {
		known = true
		return slices.ContainsFunc(acked, func(a *attempt) bool { return a.body == body })
	}
	for _, r := range s.records {
		if r.Body != "" && same(bodyHash([]byte(r.Body))) {
			return false
		}
	}
	for i := range s.attempts {
		if a := &s.attempts[i]; a.acked() && !a.void && same(a.body) {
			return false
		}
	}
	return known
}

func (ix *index) lostOrder(s *scope, a *attempt, again bool) verdict.Lost {
	return verdict.Lost{
		Key: s.key, User: s.user, Endpoint: s.endpoint, Attempt: a.ref(), AckedNS: a.done, BeforeNS: max(0, ix.cut.strike-a.done), Again: again,
	}
}

// losses is what the verdict says about a stated loss; nil where none is stated.
func (ix *index) losses() *verdict.Losses {
	if !ix.limits.Loss.stated() {
		return nil
	}
	list := slices.Clone(ix.lost)
	slices.SortStableFunc(list, func(a, b verdict.Lost) int { return compare(a.AckedNS, b.AckedNS) })
	return &verdict.Losses{Stated: ix.limits.Loss.String(), Fault: ix.limits.Loss.Fault, Orders: list}
}

// nothingLost is the doubt about a run that states a loss and had none: nobody saw that one would be told from a violation.
func (ix *index) nothingLost() string {
	if !ix.limits.Loss.stated() || len(ix.lost) > 0 {
		return ""
	}
	return fmt.Sprintf("the scenario states that %s, and nothing was: the run shows neither the loss nor that it would be told from another", ix.limits.Loss)
}

// nameOrders puts the orders' names, as the answers gave them, on the list of losses. The index keeps no bodies, so they are read again.
func nameOrders(events iter.Seq2[history.Event, error], l *verdict.Losses) {
	if l == nil || len(l.Orders) == 0 {
		return
	}
	places := map[history.Ref]int{}
	for i, o := range l.Orders {
		places[o.Attempt] = i
	}
	for e := range events {
		if e.Attempt == nil {
			continue
		}
		if i, ok := places[history.Ref{Op: e.Attempt.Op, N: e.Attempt.N}]; ok {
			l.Orders[i].Order = orderNames(e.Attempt.Body)
		}
	}
}

// orderNames finds what an answer calls its order, or the orders of its legs; the beginning of an answer that names none.
func orderNames(body []byte) string {
	type named struct {
		OrderID json.RawMessage `json:"order_id"`
		ID      json.RawMessage `json:"id"`
	}
	var answer struct {
		named
		Legs []named `json:"legs"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return shorten(string(body))
	}
	var names []string
	for _, n := range append([]named{answer.named}, answer.Legs...) {
		if id := firstOf(n.OrderID, n.ID); id != "" {
			names = append(names, id)
		}
	}
	if len(names) == 0 {
		return shorten(string(body))
	}
	return strings.Join(names, ", ")
}

// firstOf is the first value there is, a string without its quotes.
func firstOf(values ...json.RawMessage) string {
	for _, v := range values {
		if len(v) == 0 {
			continue
		}
		if text, err := strconv.Unquote(string(v)); err == nil {
			return text
		}
		return string(v)
	}
	return ""
}
