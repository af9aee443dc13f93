package check

import (
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// verdicts are small stories, each with what one invariant makes of it. Every invariant has at least one that holds, one that is
// violated and one with nothing to judge; a test below counts.
var verdicts = []struct {
	invariant string
	name      string
	want      verdict.Status // claimed, so that too little data is inconclusive
	tell      func(s *story)
}{
	{"at-most-once", "one execution", verdict.Held, raceOnce},
	{"at-most-once", "two orders of one key", verdict.Violated, func(s *story) { raceOnce(s); s.execute(2) }},
	{"at-most-once", "two charges of one key", verdict.Violated, func(s *story) {
		id := s.op(k1, 4, "checkout", "a")
		s.ask(id, 0, 5, contract.AnswerFresh)
		s.execute(id)
		s.set.Charges = append(s.set.Charges, evidence.Charge{ID: "c2", Key: k1, User: 4})
	}},
	{"at-most-once", "tier 2 runs twice in an outage, one charge", verdict.Held, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		first, second := s.op(k1, 4, "checkout", "a"), s.op(k1, 4, "checkout", "a")
		s.ask(first, 10, 20, contract.AnswerFresh)
		s.ask(second, 30, 40, contract.AnswerFresh)
		s.execute(first)
		s.execute(second)
		s.set.Charges = s.set.Charges[:1]
	}},
	{"at-most-once", "tier 2 runs twice while the server counts its store as out, one charge", verdict.Held, func(s *story) {
		first, second := s.op(k1, 4, "checkout", "a"), s.op(k1, 4, "checkout", "a")
		s.ask(first, 10, 20, contract.AnswerFresh)
		s.ask(second, 30, 40, contract.AnswerFresh)
		s.execute(first)
		s.execute(second)
		s.set.Charges = s.set.Charges[:1]
		s.set.Counters[evidence.CounterName("idempotency_store_unavailable_total", "POST /api/billing/checkout")] = 1
	}},
	{"at-most-once", "the second life of an expired key", verdict.Held, func(s *story) {
		raceOnce(s)
		s.execute(2)
		s.set.Orders[1].At, s.set.Audits[1].At = "2026-01-02T00:00:01Z", "2026-01-02T00:00:01Z"
	}},
	{"at-most-once", "a PATCH executes again", verdict.Inconclusive, func(s *story) {
		first, second := s.op(k1, 4, "account", "a"), s.op(k1, 4, "account", "a")
		s.ask(first, 0, 5, contract.AnswerFresh)
		s.ask(second, 6, 9, contract.AnswerFresh)
		s.execute(first)
		s.execute(second)
	}},
	{"at-most-once", "no key", verdict.Inconclusive, func(s *story) { s.ask(s.order("", "a"), 0, 5, contract.AnswerFresh); s.execute(1) }},

	{"acked-durable", "an order behind the answer", verdict.Held, raceOnce},
	{"acked-durable", "no order behind the answer", verdict.Violated, func(s *story) { raceOnce(s); s.set.Orders = s.set.Orders[:0] }},
	{"acked-durable", "a replay without an order", verdict.Violated, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, contract.AnswerReplay) }},
	{"acked-durable", "one leg of a roll", verdict.Violated, func(s *story) {
		id := s.op(k1, 4, "roll", "a")
		s.ask(id, 0, 5, contract.AnswerFresh)
		s.execute(id)
		s.set.Orders = s.set.Orders[:1]
	}},
	{"acked-durable", "a checkout without a charge", verdict.Violated, func(s *story) {
		s.ask(s.op(k1, 4, "checkout", "a"), 0, 5, contract.AnswerFresh)
	}},
	{"acked-durable", "nothing acknowledged", verdict.Inconclusive, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, "lost") }},

	{"money-conserved", "cash and position follow the orders", verdict.Held, raceOnce},
	{"money-conserved", "a cent too much", verdict.Violated, func(s *story) { raceOnce(s); s.set.Closing[3].CashCents++ }},
	{"money-conserved", "a share too few", verdict.Violated, func(s *story) { raceOnce(s); s.set.Closing[3].Positions["AAPL"]-- }},
	{"money-conserved", "no accounts query", verdict.Inconclusive, func(s *story) { s.set.Opening = nil }},

	{"order-audit-match", "an audit row for the order", verdict.Held, raceOnce},
	{"order-audit-match", "an order without an audit row", verdict.Violated, func(s *story) { raceOnce(s); s.set.Audits = s.set.Audits[:0] }},
	{"order-audit-match", "an audit row without an order", verdict.Violated, func(s *story) { raceOnce(s); s.set.Orders = s.set.Orders[:0] }},
	{"order-audit-match", "two audit rows of one execution", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.set.Audits = append(s.set.Audits, s.set.Audits[0])
	}},
	{"order-audit-match", "nothing executed", verdict.Inconclusive, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, contract.AnswerRejected) }},

	{"nothing-unclaimed", "a record beside the order", verdict.Held, raceOnce},
	{"nothing-unclaimed", "an order without a record", verdict.Violated, func(s *story) { raceOnce(s); s.set.Records = s.set.Records[:0] }},
	{"nothing-unclaimed", "the middleware was off", verdict.Inconclusive, func(s *story) {
		s.note(0, "flag", "idempotency_middleware=false")
		raceOnce(s)
		s.set.Records = s.set.Records[:0]
	}},
	{"nothing-unclaimed", "nothing executed", verdict.Inconclusive, func(s *story) { s.order(k1, "a") }},

	{"replay-fidelity", "the same value in another spelling", verdict.Held, func(s *story) {
		raceOnce(s)
		s.attempt(0).Body = []byte(`{"b":[1,{"x":"\u0041"}],"a":1.50}`)
		s.attempt(2).Body = []byte(`{"a": 15e-1, "idempotency_replayed": true, "b": [1.0, {"x": "A"}]}`)
	}},
	{"replay-fidelity", "a digit past what a float holds", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.attempt(0).Body = []byte(`{"n":9007199254740993}`)
		s.attempt(2).Body = []byte(`{"n":9007199254740992,"idempotency_replayed":true}`)
	}},
	{"replay-fidelity", "another code", verdict.Violated, func(s *story) { raceOnce(s); s.attempt(2).Status = 200 }},
	{"replay-fidelity", "the original was lost, the record has it", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.attempt(0).Outcome, s.attempt(0).Status, s.attempt(0).Body = history.Lost, 0, nil
		s.set.Records[0].Body = `{"order":"another"}`
	}},
	{"replay-fidelity", "no replay", verdict.Inconclusive, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, contract.AnswerFresh) }},

	{"replay-audited", "one row for the replay", verdict.Held, raceOnce},
	{"replay-audited", "a replay without a row", verdict.Violated, func(s *story) { raceOnce(s); s.set.Replays = s.set.Replays[:0] }},
	{"replay-audited", "two rows for one replay", verdict.Violated, func(s *story) { raceOnce(s); s.replayed(2) }},
	{"replay-audited", "a second row for a replay that may have been lost", verdict.Held, func(s *story) {
		raceOnce(s)
		s.ask(2, 50, 60, "lost")
		s.replayed(2)
	}},
	{"replay-audited", "another hash", verdict.Violated, func(s *story) { raceOnce(s); s.set.Replays[0].Hash = "z" }},
	{"replay-audited", "no replays query", verdict.Inconclusive, func(s *story) { raceOnce(s); s.set.Replays = nil }},

	{"mismatch-rejected", "another body is refused", verdict.Held, func(s *story) {
		raceOnce(s)
		s.ask(s.order(k1, "b"), 50, 60, contract.AnswerMismatch)
	}},
	{"mismatch-rejected", "another body gets the stored answer", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.ask(s.order(k1, "b"), 50, 60, contract.AnswerReplay)
	}},
	{"mismatch-rejected", "another body executes", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.ask(s.order(k1, "b"), 50, 60, "lost")
		s.execute(3)
	}},
	{"mismatch-rejected", "the same request in another spelling is refused", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.ops[1].Spelling = "key order"
		s.ask(2, 50, 60, contract.AnswerMismatch)
	}},
	{"mismatch-rejected", "refused while another request held the key, which then went stale", verdict.Held, func(s *story) {
		crashed, wins := s.order(k1, "a"), s.order(k1, "b")
		s.ask(crashed, 0, 10, "lost")
		s.ask(wins, 20, 30, contract.AnswerMismatch)
		s.ask(crashed, 100, 110, contract.AnswerStale)
		s.ask(wins, 120, 130, contract.AnswerFresh)
		s.execute(wins)
	}},
	{"mismatch-rejected", "one request only", verdict.Inconclusive, raceOnce},

	{"scope-isolated", "two users, one key", verdict.Held, func(s *story) {
		raceOnce(s)
		id := s.op(k1, 5, "order", "a")
		s.ask(id, 50, 60, contract.AnswerFresh)
		s.execute(id)
	}},
	{"scope-isolated", "another user's answer", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.ask(s.op(k1, 5, "order", "a"), 50, 60, contract.AnswerReplay)
	}},
	{"scope-isolated", "another endpoint's record", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.ask(s.op(k1, 4, "checkout", "z"), 50, 60, contract.AnswerMismatch)
	}},
	{"scope-isolated", "an order booked on another user", verdict.Violated, func(s *story) { raceOnce(s); s.set.Orders[0].User = 5 }},
	{"scope-isolated", "no key is shared", verdict.Inconclusive, raceOnce},

	{"fail-closed", "503 in an outage", verdict.Held, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerStoreDown)
	}},
	{"fail-closed", "503 in other words, before the claim", verdict.Held, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerFailed)
		s.attempt(3).Status = 503
	}},
	{"fail-closed", "a failure past the claim", verdict.Violated, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerFailed)
	}},
	{"fail-closed", "acknowledged in an outage", verdict.Violated, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerFresh)
		s.execute(1)
	}},
	{"fail-closed", "refused, and executed all the same", verdict.Violated, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerStoreDown)
		s.execute(1)
	}},
	{"fail-closed", "refused too late", verdict.Violated, func(s *story) {
		s.fault("store of all replicas", 0, 9000)
		s.ask(s.order(k1, "a"), 10, 4000, contract.AnswerStoreDown)
	}},
	{"fail-closed", "not answered at all", verdict.Violated, func(s *story) {
		s.fault("store of all replicas", 0, 9000)
		s.ask(s.order(k1, "a"), 10, 4000, "lost")
	}},
	{"fail-closed", "late without an outage too", verdict.Inconclusive, func(s *story) {
		s.fault("store of all replicas", 0, 9000)
		s.ask(s.order(k1, "a"), 10, 4000, contract.AnswerStoreDown)
		s.ask(s.order(k2, "a"), 10000, 14000, contract.AnswerFresh)
	}},
	{"fail-closed", "executed after the heal by an attempt that was given up", verdict.Held, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 90, "lost")
		s.execute(1)
	}},
	{"fail-closed", "only the handlers' database was out", verdict.Inconclusive, func(s *story) {
		s.fault("database of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerFailed)
	}},

	{"fail-open", "tier 2 proceeds", verdict.Held, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.op(k1, 4, "checkout", "a"), 10, 20, contract.AnswerFresh)
	}},
	{"fail-open", "tier 2 is refused", verdict.Violated, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.op(k1, 4, "checkout", "a"), 10, 20, contract.AnswerStoreDown)
	}},
	{"fail-open", "tier 2 only fails", verdict.Violated, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.op(k1, 4, "checkout", "a"), 10, 20, contract.AnswerFailed)
	}},
	{"fail-open", "tier 2 fails without an outage too", verdict.Inconclusive, func(s *story) {
		s.fault("store of all replicas", 5000, 6000)
		s.ask(s.op(k1, 4, "checkout", "a"), 10, 20, contract.AnswerFailed)
		s.ask(s.op(k1, 5, "checkout", "a"), 5300, 5400, contract.AnswerFailed)
	}},
	{"fail-open", "tier 1 fails too, for another reason than its store", verdict.Inconclusive, func(s *story) {
		s.fault("store of all replicas", 0, 100)
		s.ask(s.op(k1, 4, "checkout", "a"), 10, 20, contract.AnswerFailed)
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerFailed)
	}},
	{"fail-open", "both databases were out", verdict.Inconclusive, func(s *story) {
		s.fault("both of all replicas", 0, 100)
		s.ask(s.op(k1, 4, "checkout", "a"), 10, 20, contract.AnswerFailed)
	}},

	{"legal-transitions", "in flight, then replayed", verdict.Held, raceOnce},
	{"legal-transitions", "in flight after completion", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.ask(2, 50, 60, contract.AnswerInFlight)
	}},
	{"legal-transitions", "replayed before it was sent", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 10, contract.AnswerReplay)
		s.ask(s.order(k1, "a"), 20, 30, contract.AnswerFresh)
		s.execute(2)
	}},
	{"legal-transitions", "stale too soon", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 10, "lost")
		s.ask(s.order(k1, "a"), 20, 30, contract.AnswerStale)
	}},
	{"legal-transitions", "failed without a cause", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 10, contract.AnswerPreviousFailed)
	}},
	{"legal-transitions", "executed, and the record says failed", verdict.Violated, func(s *story) {
		raceOnce(s)
		s.set.Records[0].Status = "failed"
	}},
	{"legal-transitions", "executed by an operation that was refused", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 10, contract.AnswerRejected)
		s.execute(1)
	}},
	{"legal-transitions", "no key", verdict.Inconclusive, func(s *story) { s.ask(s.order("", "a"), 0, 5, contract.AnswerFresh) }},

	{"recovers", "every operation is settled", verdict.Held, raceOnce},
	{"recovers", "never settled", verdict.Violated, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, "lost") }},
	{"recovers", "never sent", verdict.Violated, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, "unsent") }},
	{"recovers", "settled too late", verdict.Violated, func(s *story) {
		s.in.Limits.Recovery = time.Second
		s.fault("store of all replicas", 0, 100)
		s.ask(s.order(k1, "a"), 10, 20, "lost")
		s.ask(1, 2000, 2010, contract.AnswerFresh)
		s.attempt(4).Settle = true
	}},
	{"recovers", "no key", verdict.Inconclusive, func(s *story) { s.ask(s.order("", "a"), 0, 5, "lost") }},

	{"zombie-fenced", "the paused worker commits nothing", verdict.Held, staleHeal},
	{"zombie-fenced", "the paused worker commits too", verdict.Violated, func(s *story) { staleHeal(s); s.execute(1) }},
	{"zombie-fenced", "the paused worker commits alone", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 500, "lost")
		s.ask(s.order(k1, "a"), 100, 110, contract.AnswerStale)
		s.execute(1)
	}},
	{"zombie-fenced", "nothing went stale", verdict.Inconclusive, raceOnce},

	{"resources-return", "pools at their limit and nothing in use", verdict.Held, func(s *story) { s.holds(nil) }},
	{"resources-return", "sockets of a Redis pool within its limit", verdict.Held, func(s *story) {
		s.holds(func(h *evidence.Held) { h.Descriptors, h.Redis = 60, evidence.Pool{Open: 20, Limit: 20} })
	}},
	{"resources-return", "more connections to Redis than its pool may have", verdict.Violated, func(s *story) {
		s.holds(func(h *evidence.Held) { h.Redis = evidence.Pool{Open: 21, Limit: 20} })
	}},
	{"resources-return", "a connection that nobody gives back", verdict.Violated, func(s *story) {
		s.holds(func(h *evidence.Held) { h.Pools["store"] = evidence.Pool{Open: 12, Acquired: 1, Limit: 12} })
	}},
	{"resources-return", "a goroutine for each request of the outage", verdict.Violated, func(s *story) {
		s.holds(func(h *evidence.Held) { h.Goroutines = 120 })
	}},
	{"resources-return", "sockets that no pool accounts for", verdict.Violated, func(s *story) {
		s.holds(func(h *evidence.Held) { h.Descriptors = 120 })
	}},
	{"resources-return", "database sessions that no pool accounts for", verdict.Violated, func(s *story) {
		s.holds(nil)
		s.set.After.Sessions["idemstorm-store"] = 13
	}},
	{"resources-return", "a server that publishes half of it", verdict.Held, func(s *story) {
		s.holds(func(h *evidence.Held) { h.Pools, h.Descriptors = nil, -1 })
		s.set.After.Sessions = nil
	}},
	{"resources-return", "a server that no longer answers", verdict.Inconclusive, func(s *story) {
		s.holds(nil)
		s.set.After = nil
	}},

	{"retention", "the endpoint's TTL", verdict.Held, raceOnce},
	{"retention", "an hour too long", verdict.Violated, func(s *story) { raceOnce(s); s.set.Records[0].ExpiresUS += time.Hour.Microseconds() }},
	{"retention", "gone before its time", verdict.Violated, func(s *story) { raceOnce(s); s.set.Records = s.set.Records[:0] }},
	{"retention", "no record", verdict.Inconclusive, func(s *story) { s.order(k1, "a") }},

	{"erasure", "no record is left", verdict.Held, func(s *story) { raceOnce(s); s.note(200, "erased", "4"); s.set.Records = s.set.Records[:0] }},
	{"erasure", "a record is left", verdict.Violated, func(s *story) { raceOnce(s); s.note(200, "erased", "4") }},
	{"erasure", "nobody was erased", verdict.Inconclusive, raceOnce},

	{"gates-respected", "refused at the gate", verdict.Held, func(s *story) {
		s.note(0, "flag", "new_orders_disabled=true")
		s.ask(s.order(k1, "a"), 3000, 3010, contract.AnswerGated)
	}},
	{"gates-respected", "a replay slips past", verdict.Violated, func(s *story) {
		s.note(0, "flag", "new_orders_disabled=true")
		s.ask(s.order(k1, "a"), 3000, 3010, contract.AnswerReplay)
	}},
	{"gates-respected", "a key is claimed behind the gate", verdict.Violated, func(s *story) {
		s.note(0, "flag", "new_orders_disabled=true")
		s.ask(s.order(k1, "a"), 3000, 3010, contract.AnswerGated)
		s.record(1, "failed")
	}},
	{"gates-respected", "the gate was just being closed", verdict.Inconclusive, func(s *story) {
		s.note(0, "flag", "new_orders_disabled=true")
		s.ask(s.order(k1, "a"), 10, 20, contract.AnswerFresh)
	}},

	{"malformed-rejected", "400", verdict.Held, func(s *story) { s.ask(s.malformed("x"), 0, 5, contract.AnswerMalformed) }},
	{"malformed-rejected", "accepted", verdict.Violated, func(s *story) { s.ask(s.malformed("x"), 0, 5, contract.AnswerFresh) }},
	{"malformed-rejected", "an order behind it", verdict.Violated, func(s *story) {
		s.ask(s.malformed("x"), 0, 5, contract.AnswerMalformed)
		s.execute(1)
	}},
	{"malformed-rejected", "a record behind it", verdict.Violated, func(s *story) {
		s.ask(s.malformed("x"), 0, 5, contract.AnswerMalformed)
		s.set.Records = append(s.set.Records, evidence.Record{ID: "1", Key: "x"})
	}},
	{"malformed-rejected", "a good key refused", verdict.Violated, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, contract.AnswerMalformed) }},
	{"malformed-rejected", "a cut request, then whole", verdict.Held, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 5, "cut")
		s.ask(1, 10, 15, contract.AnswerFresh)
		s.execute(1)
		s.record(1, "completed")
	}},
	{"malformed-rejected", "a cut request beside a lost one, executed", verdict.Held, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 5, "cut")
		s.ask(1, 10, 15, "lost")
		s.execute(1)
	}},
	{"malformed-rejected", "a cut request executed", verdict.Violated, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, "cut"); s.execute(1) }},
	{"malformed-rejected", "a cut request's record", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 5, "cut")
		s.record(1, "in_flight")
	}},
	{"malformed-rejected", "a whole request is replayed what a cut one executed", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 5, "cut")
		s.ask(1, 10, 15, contract.AnswerReplay)
		s.execute(1)
	}},
	{"malformed-rejected", "a whole request meets the claim of a cut one", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 5, "cut")
		s.ask(1, 10, 15, contract.AnswerInFlight)
	}},
	{"legal-transitions", "a cut request has no part in its key's life", verdict.Violated, func(s *story) {
		s.ask(s.order(k1, "a"), 0, 5, "cut")
		s.ask(1, 10, 15, contract.AnswerReplay)
		s.execute(1)
	}},
	{"recovers", "cut and never sent whole", verdict.Violated, func(s *story) { s.ask(s.order(k1, "a"), 0, 5, "cut") }},
	{"malformed-rejected", "no malformed key", verdict.Inconclusive, raceOnce},

	{"no-secrets", "nothing found", verdict.Held, func(s *story) { s.set.Scanned = 3 }},
	{"no-secrets", "a token in a log", verdict.Violated, func(s *story) {
		s.set.Secrets = []history.Row{{Table: "server-1.log", ID: "7", Fields: map[string]string{"looks_like": "bearer token"}}}
	}},
	{"no-secrets", "nothing searched", verdict.Inconclusive, func(s *story) {}},

	{"metrics-agree", "what the answers say", verdict.Held, raceCounted},
	{"metrics-agree", "one miss too many", verdict.Violated, func(s *story) { raceCounted(s); s.bump("idempotency_miss_total") }},
	{"metrics-agree", "one more, and an attempt was lost", verdict.Held, func(s *story) {
		raceCounted(s)
		s.ask(2, 50, 60, "lost")
		s.bump("idempotency_hit_total")
	}},
	{"metrics-agree", "a replica was restarted", verdict.Inconclusive, func(s *story) { raceCounted(s); s.set.Counters = nil }},
}

// raceOnce is two requests under one key: one executes, the other waits and is given the same answer.
func raceOnce(s *story) {
	first, second := s.order(k1, "a"), s.order(k1, "a")
	s.ask(first, 0, 20, contract.AnswerFresh)
	s.ask(second, 1, 10, contract.AnswerInFlight)
	s.ask(second, 30, 40, contract.AnswerReplay)
	s.execute(first)
	s.record(first, "completed")
	s.replayed(second)
}

func raceCounted(s *story) {
	raceOnce(s)
	s.bump("idempotency_miss_total")
	s.bump("idempotency_hit_total")
	s.bump("idempotency_hit_total")
	s.bump("idempotency_in_flight_total")
	s.bump("idempotency_replay_total")
}

func (s *story) bump(counter string) {
	s.set.Counters[evidence.CounterName(counter, "POST /api/trading/orders")]++
}

// staleHeal is a worker that is paused past the threshold, a duplicate that retires its claim, and one that executes.
func staleHeal(s *story) {
	paused, next := s.order(k1, "a"), s.order(k1, "a")
	s.ask(paused, 0, 500, "lost")
	s.ask(next, 100, 110, contract.AnswerStale)
	s.ask(next, 120, 130, contract.AnswerFresh)
	s.execute(next)
	s.record(next, "completed")
}

func TestEachInvariantJudgesItsStories(t *testing.T) {
	for _, c := range verdicts {
		t.Run(c.invariant+"/"+c.name, func(t *testing.T) {
			s := newStory()
			c.tell(s)
			f := findingOf(Judge(s.input(c.invariant)), c.invariant)
			if f.Status != c.want {
				t.Fatalf("%v, want %v: %s %+v", f.Status, c.want, f.Why, f.Violations)
			}
			if f.Status == verdict.Inconclusive && f.Why == "" {
				t.Error("inconclusive without a reason")
			}
			for _, v := range f.Violations {
				if v.Sentence == "" || v.Expected == "" || v.Seen == "" {
					t.Errorf("half a counterexample: %+v", v)
				}
			}
		})
	}
}

func TestEveryInvariantHasAStoryOfEachKind(t *testing.T) {
	type kind struct {
		id     string
		status verdict.Status
	}
	told := map[kind]bool{}
	for _, c := range verdicts {
		told[kind{c.invariant, c.want}] = true
	}
	for _, id := range IDs() {
		for _, status := range []verdict.Status{verdict.Held, verdict.Violated, verdict.Inconclusive} {
			if !told[kind{id, status}] {
				t.Errorf("no story in which %s is %v", id, status)
			}
		}
	}
}
