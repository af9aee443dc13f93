package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
)

// A story is what becomes of one key. Times are nanoseconds since the run's zero.

const (
	works   = int64(5 * time.Millisecond)    // the winner's handler
	looks   = int64(2 * time.Millisecond)    // a loser's answer
	waits   = int64(50 * time.Millisecond)   // before a second attempt
	apart   = int64(2500 * time.Microsecond) // between two duplicates: two of ten meet the key in flight
	between = int64(time.Millisecond)        // two keys
)

// base is the database's clock at the run's zero.
var base = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world is what the stories leave behind.
type world struct {
	rnd    *rand.Rand
	writer *history.Recorder
	set    *evidence.Set
	count  func(*history.Attempt)
	zero   int64 // of the key at hand
	body   []byte
	replay []byte
}

// tell makes one key's attempts and rows. Of a hundred keys, ninety are executed and answered, five executed with the winner's answer lost, and
// five refused. Whoever got no final answer asks once more.
func (w *world) tell(ops []history.Operation) {
	kind := w.rnd.IntN(100)
	order := w.order(&ops[0])
	for i := range ops {
		a := w.attempt(&ops[i], 1, w.zero+int64(i)*apart)
		switch {
		case i == 0:
			w.win(&a, kind)
		case a.SentNS < w.zero+works:
			a.DoneNS, a.Status, a.RetryAfter = min(a.SentNS+looks, w.zero+works), 409, "5"
			a.Body = []byte(`{"error":"idempotency_in_flight","retry_after_ms":5000}`)
		default:
			w.lose(&ops[i], &a, kind)
		}
		w.record(&a)
		if a.RetryAfter != "" || a.Outcome == history.Lost {
			again := w.attempt(&ops[i], 2, a.DoneNS+waits)
			w.lose(&ops[i], &again, kind)
			w.record(&again)
		}
	}
	w.leave(&ops[0], order, kind < 5)
	w.zero += between
}

func (w *world) attempt(o *history.Operation, n int, sent int64) history.Attempt {
	return history.Attempt{Op: o.ID, N: n, Replica: 1 + int(o.ID)%2, IntendedNS: sent, SentNS: sent + 30, Outcome: history.Returned}
}

func (w *world) record(a *history.Attempt) {
	w.writer.Attempt(a)
	w.count(a)
}

// lose is an attempt that meets the record when it has ended.
func (w *world) lose(o *history.Operation, a *history.Attempt, kind int) {
	a.DoneNS = a.SentNS + looks
	if kind < 5 {
		a.Status, a.Body = 409, []byte(`{"error":"idempotency_previous_failed"}`)
		return
	}
	a.Status, a.Marked, a.Body = 201, true, w.replay
	w.auditReplay(o, a.DoneNS)
}

// win is the attempt that claims.
func (w *world) win(a *history.Attempt, kind int) {
	a.DoneNS, a.Status, a.Body = a.SentNS+works, 201, w.body
	switch {
	case kind < 5:
		a.Status, a.Body = 402, []byte(`{"error":"insufficient_cash"}`)
	case kind < 10:
		a.Outcome, a.Cause, a.Status, a.Body = history.Lost, history.CauseReset, 0, nil
	}
}

// order is the row that a key's execution writes, and the answers that tell of it.
func (w *world) order(o *history.Operation) evidence.Order {
	var asked struct {
		Symbol, Side string
		Quantity     int64
	}
	_ = json.Unmarshal(o.Body, &asked) // the plan wrote it
	id := len(w.set.Orders) + 1
	row := evidence.Order{
		ID: fmt.Sprint(id), Execution: w.uuid(), Leg: 1, User: o.User, Endpoint: endpoint, Key: o.Key, Operation: o.ID,
		Symbol: asked.Symbol, Side: asked.Side, Quantity: asked.Quantity, AmountCents: -10_000 * asked.Quantity, Status: "filled", At: at(w.zero + works/2),
	}
	if row.Side == "sell" {
		row.AmountCents = -row.AmountCents
	}
	w.body = fmt.Appendf(nil, `{"order_id":%d,"execution_id":%q,"status":"filled","symbol":%q,"side":%q,"quantity":%d,"price":"100.00","cash_balance":"999229.70"}`,
		id, row.Execution, row.Symbol, row.Side, row.Quantity)
	w.replay = fmt.Appendf(nil, `{"idempotency_replayed": true, "side": %q, "price": "100.00", "status": "filled", "symbol": %q, "order_id": %d, "quantity": %d, "cash_balance": "999229.70", "execution_id": %q}`,
		row.Side, row.Symbol, id, row.Quantity, row.Execution)
	return row
}

// leave writes the rows that are found afterwards.
func (w *world) leave(o *history.Operation, order evidence.Order, failed bool) {
	created := base.UnixMicro() + w.zero/1000
	record := evidence.Record{
		ID: fmt.Sprint(len(w.set.Records) + 1), Key: o.Key, User: o.User, Endpoint: endpoint, Hash: hash(o), Status: "failed", Code: 402,
		CreatedUS: created, LockedUS: created, ExpiresUS: created + (24 * time.Hour).Microseconds(),
	}
	if !failed {
		record.Status, record.Code, record.Body = "completed", 201, string(w.body)
		w.set.Orders = append(w.set.Orders, order)
		w.set.Audits = append(w.set.Audits, evidence.Audit{
			ID: w.auditID(), Execution: order.Execution, User: o.User, Endpoint: endpoint, Key: o.Key, Operation: o.ID,
			Action: "order_placed", Hash: record.Hash, Code: 201, At: order.At,
		})
		w.book(order)
	}
	w.set.Records = append(w.set.Records, record)
}

// book moves the money.
func (w *world) book(o evidence.Order) {
	account := &w.set.Closing[o.User-1]
	account.CashCents += o.AmountCents
	if o.Side == "sell" {
		o.Quantity = -o.Quantity
	}
	account.Positions[o.Symbol] += o.Quantity
}

func (w *world) auditReplay(o *history.Operation, done int64) {
	w.set.Replays = append(w.set.Replays, evidence.Audit{
		ID: w.auditID(), User: o.User, Endpoint: endpoint, Key: o.Key, Operation: o.ID, Action: "idempotency_replay", Hash: hash(o), Code: 201, At: at(done),
	})
}

func (w *world) auditID() string { return fmt.Sprint(len(w.set.Audits) + len(w.set.Replays) + 1) }

func at(ns int64) string { return base.Add(time.Duration(ns)).Format(time.RFC3339Nano) }

// hash stands for the request's: it is as long, and equal for equal requests.
func hash(o *history.Operation) string {
	return fmt.Sprintf("%064x", uuid.NewSHA1(uuid.NameSpaceURL, []byte(o.Request)))
}

func (w *world) uuid() string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(w.rnd.Uint32())
	}
	return id.String()
}
