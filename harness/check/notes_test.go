package check

import (
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// What a note says has passed is allowed, once; nothing more is.
func TestAnExpiredKeyMayRunOnceMoreForEachExpiry(t *testing.T) {
	const expiry = k1 + " 4 POST /api/trading/orders"
	cases := []struct {
		name       string
		notes      []string
		executions int
		want       verdict.Status
	}{
		{"no expiry, one run", nil, 1, verdict.Held},
		{"no expiry, two runs", nil, 2, verdict.Violated},
		{"one expiry, two runs", []string{expiry}, 2, verdict.Held},
		{"one expiry, three runs", []string{expiry}, 3, verdict.Violated},
		{"another key's expiry", []string{k2 + " 4 POST /api/trading/orders"}, 2, verdict.Violated},
		{"another user's expiry", []string{k1 + " 5 POST /api/trading/orders"}, 2, verdict.Violated},
		{"nonsense", []string{"expired"}, 2, verdict.Violated},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newStory()
			op := s.order(k1, "a")
			s.ask(op, 0, 20, contract.AnswerFresh)
			for _, text := range c.notes {
				s.note(30, noteExpired, text)
			}
			for range c.executions {
				s.execute(op)
			}
			s.record(op, "completed")
			if f := findingOf(Judge(s.input("at-most-once")), "at-most-once"); f.Status != c.want {
				t.Errorf("%v %s, want %v", f.Status, f.Why, c.want)
			}
		})
	}
}

// A fault that leaves the ways to the databases alone excuses nothing.
func TestAFaultBesideTheDatabasesIsNoOutage(t *testing.T) {
	for on, want := range map[string]verdict.Status{
		"flags": verdict.Violated, "jobs": verdict.Violated, "records": verdict.Violated, "provider": verdict.Violated,
		"clocks": verdict.Violated, "clock of replica 1": verdict.Violated,
		"store of all replicas": verdict.Held, "postgres": verdict.Held, "replica 1": verdict.Held,
		"pgbouncer": verdict.Held, "store (table idempotency_keys)": verdict.Held, "database (table accounts)": verdict.Violated,
	} {
		s := newStory()
		op := s.op(k1, 4, "account", "a")
		s.ops[op-1].Route = "account"
		checkout := s.op(k2, 4, "checkout", "b")
		s.fault(on, 10, 500)
		s.ask(checkout, 20, 40, contract.AnswerFresh)
		s.execute(checkout)
		s.set.Charges = s.set.Charges[:1]
		s.execute(checkout)
		s.set.Charges = s.set.Charges[:1] // the provider deduplicates in either case
		if f := findingOf(Judge(s.input("at-most-once")), "at-most-once"); f.Status != want {
			t.Errorf("%s: %v, want %v", on, f.Status, want)
		}
	}
}

func TestAKeyStoredAsItWasSpelledIsThatKey(t *testing.T) {
	const lower, upper = "abcdefab-1111-4111-8111-111111111111", "ABCDEFAB-1111-4111-8111-111111111111"
	s := newStory()
	first, second := s.order(lower, "a"), s.order(lower, "a")
	s.ask(first, 0, 20, contract.AnswerFresh)
	s.ask(second, 30, 40, contract.AnswerFresh)
	s.execute(first)
	s.execute(second)
	s.set.Orders[1].Key = upper
	if f := findingOf(Judge(s.input("at-most-once")), "at-most-once"); f.Status != verdict.Violated {
		t.Errorf("%v", f.Status)
	}
}

// The answer that a session is gone shows that the erased user made nothing anew: what is left was left by the erasure.
func TestARefusedSessionExcusesNoRecordOfAnErasedUser(t *testing.T) {
	s := newStory()
	op := s.order(k1, "a")
	s.ask(op, 0, 20, contract.AnswerFresh)
	s.record(op, "completed")
	s.note(30, noteErased, "4")
	s.ask(op, 40, 50, contract.AnswerRejected)
	s.attempt(2).Status = 401
	if f := findingOf(Judge(s.input("erasure")), "erasure"); f.Status != verdict.Violated {
		t.Errorf("%v", f.Status)
	}
}

// On tier 2 the read that writes a replay's row may time out: the row is there, and the request went on without the store.
func TestAReplayRowMayBelongToARequestThatWentOnWithoutTheStore(t *testing.T) {
	for unavailable, want := range map[float64]verdict.Status{0: verdict.Violated, 1: verdict.Held} {
		s := newStory()
		first, second, third := s.op(k1, 4, "checkout", "a"), s.op(k1, 4, "checkout", "a"), s.op(k1, 4, "checkout", "a")
		s.ask(first, 0, 10, contract.AnswerFresh)
		s.ask(second, 20, 30, contract.AnswerReplay)
		s.ask(third, 40, 50, contract.AnswerFresh)
		s.replayed(second)
		s.replayed(third)
		if unavailable > 0 {
			s.set.Counters[evidence.CounterName("idempotency_store_unavailable_total", "POST /api/billing/checkout")] = unavailable
		}
		if f := findingOf(Judge(s.input("replay-audited")), "replay-audited"); f.Status != want {
			t.Errorf("%v unavailable: %v, want %v", unavailable, f.Status, want)
		}
	}
}
