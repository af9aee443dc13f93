package check

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

const (
	ms         = int64(time.Millisecond)
	storyStale = 50 * time.Millisecond
	k1         = "11111111-1111-4111-8111-111111111111"
	k2         = "22222222-2222-4222-8222-222222222222"
)

// story is a run told line by line: operations, answers, rows. Times are milliseconds. What is executed moves money and has
// its audit row and record, so that a test only has to tell what is wrong.
type story struct {
	in     Input
	ops    []history.Operation
	events []history.Event
	set    evidence.Set
	rows   int
}

func newStory() *story {
	s := &story{in: Input{Scenario: "story", Contract: contract.ADR0138(storyStale, 2*time.Second)}}
	s.set = evidence.Set{
		Orders: []evidence.Order{}, Audits: []evidence.Audit{}, Replays: []evidence.Audit{}, Records: []evidence.Record{},
		Charges: []evidence.Charge{}, Secrets: []history.Row{}, Counters: map[string]float64{},
	}
	for user := int64(1); user <= 9; user++ {
		s.set.Opening = append(s.set.Opening, evidence.Account{User: user, CashCents: 100_000, Positions: map[string]int64{"AAPL": 50}})
		s.set.Closing = append(s.set.Closing, evidence.Account{User: user, CashCents: 100_000, Positions: map[string]int64{"AAPL": 50}})
	}
	return s
}

// op plans an operation; its id is its place, from 1.
func (s *story) op(key string, user int64, route, request string) int64 {
	r, _ := s.in.Contract.Route(route)
	o := history.Operation{
		ID: int64(len(s.ops) + 1), Route: route, User: user, Method: r.Method, Path: r.Pattern, Key: key, Request: request,
	}
	if key != "" {
		o.Keys = []string{key}
	}
	s.ops = append(s.ops, o)
	return o.ID
}

// order plans an order of user 4 under key, the usual case.
func (s *story) order(key, request string) int64 { return s.op(key, 4, "order", request) }

// malformed plans an operation with a key that is none.
func (s *story) malformed(key string) int64 {
	id := s.order("", "r")
	s.ops[id-1].Keys = []string{key}
	return id
}

// told are the answers that a story may give: status, body and marker. %s is what was executed.
var told = map[contract.Answer]history.Attempt{
	contract.AnswerFresh:          {Status: 201, Body: []byte(`{"order":"%s"}`)},
	contract.AnswerReplay:         {Status: 201, Body: []byte(`{"idempotency_replayed": true, "order": "%s"}`), Marked: true},
	contract.AnswerMismatch:       {Status: 422, Body: []byte(`{"error":"idempotency_key_body_mismatch"}`)},
	contract.AnswerInFlight:       {Status: 409, Body: []byte(`{"error":"idempotency_in_flight"}`)},
	contract.AnswerPreviousFailed: {Status: 409, Body: []byte(`{"error":"idempotency_previous_failed"}`)},
	contract.AnswerStale:          {Status: 409, Body: []byte(`{"error":"idempotency_previous_failed","reason":"stale_in_flight"}`)},
	contract.AnswerMalformed:      {Status: 400, Body: []byte(`{"error":"Idempotency-Key must be a UUID string"}`)},
	contract.AnswerStoreDown:      {Status: 503, Body: []byte(`{"error":"idempotency_store_unavailable"}`)},
	contract.AnswerGated:          {Status: 503, Body: []byte(`{"error":"new_orders_disabled"}`)},
	contract.AnswerRejected:       {Status: 402, Body: []byte(`{"error":"insufficient_cash"}`)},
	contract.AnswerFailed:         {Status: 500, Body: []byte(`{"error":"internal"}`)},
}

// ask tells one attempt and its answer. Outcomes without an answer are given as "lost", "unsent" and "cut".
func (s *story) ask(op, sent, done int64, answer contract.Answer) {
	a := told[answer]
	if answer == contract.AnswerFresh || answer == contract.AnswerReplay {
		a.Body = fmt.Appendf(nil, string(a.Body), s.ops[op-1].Key)
	}
	a.Outcome = history.Returned
	if answer == "lost" || answer == "unsent" || answer == "cut" {
		a.Outcome = history.Outcome(answer)
	}
	a.Op, a.N, a.SentNS, a.DoneNS = op, s.attempts(op)+1, sent*ms, done*ms
	s.events = append(s.events, history.Event{Attempt: &a})
}

func (s *story) attempts(op int64) (n int) {
	for _, e := range s.events {
		if e.Attempt != nil && e.Attempt.Op == op {
			n++
		}
	}
	return n
}

// attempt finds the n-th attempt told, from 0, to be changed.
func (s *story) attempt(n int) *history.Attempt { return s.events[n].Attempt }

func (s *story) nextRow() string {
	s.rows++
	return fmt.Sprint(s.rows)
}

// execute writes what one execution of an operation leaves: order rows, audit row, charge, moved money.
func (s *story) execute(op int64) {
	o := s.ops[op-1]
	r, _ := s.in.Contract.Route(o.Route)
	execution := "e" + s.nextRow()
	for leg := 1; leg <= r.Evidence.Orders; leg++ {
		s.set.Orders = append(s.set.Orders, evidence.Order{
			ID: s.nextRow(), Execution: execution, Leg: leg, User: o.User, Endpoint: r.Scope(), Key: o.Key, Operation: op,
			Symbol: "AAPL", Side: "buy", Quantity: 1, AmountCents: -100, Status: "filled", At: "2026-01-01T00:00:00Z",
		})
		account := &s.set.Closing[o.User-1]
		account.CashCents -= 100
		account.Positions["AAPL"]++
	}
	if r.Evidence.Charge {
		s.set.Charges = append(s.set.Charges, evidence.Charge{ID: s.nextRow(), Key: o.Key, User: o.User, AmountCents: 1999, Operation: op})
	}
	s.set.Audits = append(s.set.Audits, evidence.Audit{
		ID: s.nextRow(), Execution: execution, User: o.User, Endpoint: r.Scope(), Key: o.Key, Operation: op,
		Action: r.Actions[0], Hash: o.Request, Code: 201, At: "2026-01-01T00:00:00Z",
	})
}

// record writes a key's record.
func (s *story) record(op int64, status string) {
	o := s.ops[op-1]
	r, _ := s.in.Contract.Route(o.Route)
	rec := evidence.Record{
		ID: s.nextRow(), Key: o.Key, User: o.User, Endpoint: r.Scope(), Hash: o.Request, Status: status, CreatedUS: 1,
		LockedUS: 1, ExpiresUS: 1 + r.TTL.Microseconds(),
	}
	if status == "completed" {
		rec.Code, rec.Body = 201, fmt.Sprintf(`{"order": "%s"}`, o.Key)
	}
	s.set.Records = append(s.set.Records, rec)
}

// replayed writes a replay audit row.
func (s *story) replayed(op int64) {
	o := s.ops[op-1]
	r, _ := s.in.Contract.Route(o.Route)
	s.set.Replays = append(s.set.Replays, evidence.Audit{
		ID: s.nextRow(), User: o.User, Endpoint: r.Scope(), Key: o.Key, Operation: op, Action: "idempotency_replay", Hash: o.Request, Code: 201,
	})
}

// fault tells a total fault of a path, from its beginning to its heal.
func (s *story) fault(on string, began, healed int64) {
	for phase, at := range map[string]int64{history.FaultBegan: began, history.FaultHealing: healed, history.FaultHealed: healed} {
		s.events = append(s.events, history.Event{Fault: &history.Fault{ID: 1, Name: "path-hang", On: on, Phase: phase, AtNS: at * ms, Total: true}})
	}
}

// holds tells what one server held before and after the faults; change tells what is wrong afterwards.
func (s *story) holds(change func(*evidence.Held)) {
	held := func(open int64) *evidence.Resources {
		pools := map[string]evidence.Pool{"store": {Open: open, Limit: 12}}
		return &evidence.Resources{
			Replicas: []evidence.Held{{Goroutines: 12, Descriptors: 20 + open, Memory: 1 << 25, Pools: pools}},
			Sessions: map[string]int64{"idemstorm-store": open},
		}
	}
	s.set.Before, s.set.After = held(6), held(12)
	if change != nil {
		change(&s.set.After.Replicas[0])
	}
}

func (s *story) note(at int64, kind, text string) {
	s.events = append(s.events, history.Event{Note: &history.Note{AtNS: at * ms, Kind: kind, Text: text}})
}

func (s *story) input(claimed ...string) Input {
	in := s.in
	in.Operations, in.Events, in.Evidence, in.Claimed = sequence(s.ops, nil), sequence(s.events, nil), s.set, claimed
	return in
}

func sequence[T any](list []T, end error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
		if end != nil {
			var zero T
			yield(zero, end)
		}
	}
}

func findingOf(v verdict.Verdict, id string) verdict.Finding {
	for _, f := range v.Findings {
		if f.Invariant == id {
			return f
		}
	}
	return verdict.Finding{Why: "no such invariant"}
}

// right is a whole run without a fault in it: a race, a refused key, a mismatch, a roll, a checkout, and a key shared by users.
func right() *story {
	s := newStory()
	first, second, other := s.order(k1, "a"), s.order(k1, "a"), s.order(k1, "b")
	s.ask(first, 0, 20, contract.AnswerFresh)
	s.ask(second, 1, 10, contract.AnswerInFlight)
	s.ask(second, 30, 40, contract.AnswerReplay)
	s.ask(other, 31, 41, contract.AnswerMismatch)
	s.execute(first)
	s.record(first, "completed")
	s.replayed(second)
	refused := s.order(k2, "c")
	s.ask(refused, 0, 20, contract.AnswerRejected)
	s.ask(s.order(k2, "c"), 30, 40, contract.AnswerPreviousFailed)
	s.record(refused, "failed")
	for n, route := range []string{"roll", "checkout"} {
		id := s.op(k1, int64(5+n), route, "d")
		s.ask(id, 2, 12, contract.AnswerFresh)
		s.execute(id)
		s.record(id, "completed")
	}
	s.ask(s.malformed("{"+k1+"}"), 3, 4, contract.AnswerMalformed)
	s.set.Scanned = 10
	scope, count := "POST /api/trading/orders", func(name, scope string, n float64) {
		s.set.Counters[evidence.CounterName("idempotency_"+name+"_total", scope)] = n
	}
	for name, n := range map[string]float64{"miss": 2, "hit": 4, "in_flight": 1, "replay": 1, "mismatch": 1} {
		count(name, scope, n)
	}
	count("miss", "POST /api/trading/lcc/{position_id}/roll", 1)
	count("miss", "POST /api/billing/checkout", 1)
	return s
}

func TestARightRunIsNotAccused(t *testing.T) {
	v := Judge(right().input())
	for _, f := range v.Findings {
		if f.Status == verdict.Violated || f.Status == verdict.Inconclusive {
			t.Errorf("%s: %v: %s %+v", f.Invariant, f.Status, f.Why, f.Violations)
		}
	}
	if len(v.Doubts) > 0 {
		t.Errorf("doubts: %v", v.Doubts)
	}
}
