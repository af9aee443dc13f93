package check

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// mutations each break one fact of a right run, and name who must notice. false: the run has no such fact to break.
var mutations = []struct {
	invariant string
	fact      string
	breakIt   func(t *rapid.T, s *story) bool
}{
	{"at-most-once", "an order once more, under its own execution", func(t *rapid.T, s *story) bool {
		if len(s.set.Orders) == 0 {
			return false
		}
		o := pick(t, s.set.Orders)
		o.ID, o.Execution = "again", "again"
		s.set.Orders = append(s.set.Orders, o)
		return true
	}},
	{"order-audit-match", "an audit row gone", func(t *rapid.T, s *story) bool { return drop(t, &s.set.Audits) }},
	{"order-audit-match", "an order gone", func(t *rapid.T, s *story) bool { return drop(t, &s.set.Orders) }},
	{"money-conserved", "an order gone", func(t *rapid.T, s *story) bool { return drop(t, &s.set.Orders) }},
	{"nothing-unclaimed", "all records gone", func(_ *rapid.T, s *story) bool {
		s.set.Records = s.set.Records[:0]
		return len(s.set.Orders) > 0
	}},
	{"acked-durable", "an acknowledged order gone", func(t *rapid.T, s *story) bool {
		acked := answers(s, contract.AnswerFresh)
		s.set.Orders = s.set.Orders[:0]
		return len(acked) > 0
	}},
	{"replay-fidelity", "another word in a replay", func(t *rapid.T, s *story) bool {
		fresh, replays := answers(s, contract.AnswerFresh), answers(s, contract.AnswerReplay)
		if len(fresh) == 0 || len(replays) == 0 {
			return false
		}
		replayOf(t, s, fresh, replays).Body = []byte(`{"x":"something else"}`)
		return true
	}},
	{"replay-audited", "a replay row gone", func(t *rapid.T, s *story) bool { return noneLost(s) && drop(t, &s.set.Replays) }},
	{"replay-audited", "a replay row too many", func(t *rapid.T, s *story) bool {
		if len(s.set.Replays) == 0 || !noneLost(s) {
			return false
		}
		s.set.Replays = append(s.set.Replays, s.set.Replays[0])
		return true
	}},
	{"legal-transitions", "in flight long after completion", func(t *rapid.T, s *story) bool {
		fresh := answers(s, contract.AnswerFresh)
		if len(fresh) == 0 {
			return false
		}
		s.ask(pick(t, fresh).Op, 5000, 5001, contract.AnswerInFlight)
		return true
	}},
	{"mismatch-rejected", "the same request refused after its answer", func(t *rapid.T, s *story) bool {
		fresh := answers(s, contract.AnswerFresh)
		if len(fresh) == 0 {
			return false
		}
		s.ask(pick(t, fresh).Op, 5000, 5001, contract.AnswerMismatch)
		return true
	}},
	{"malformed-rejected", "what executed was never sent whole", func(t *rapid.T, s *story) bool {
		fresh := answers(s, contract.AnswerFresh)
		if len(fresh) == 0 || !noneLost(s) {
			return false
		}
		a := pick(t, fresh)
		*a = history.Attempt{Op: a.Op, N: a.N, SentNS: a.SentNS, DoneNS: a.DoneNS, Outcome: history.Cut, BytesSent: 100}
		return true
	}},
	{"recovers", "an operation that was never answered", func(_ *rapid.T, s *story) bool {
		s.ask(s.order(k2, "z"), 1, 2, "lost")
		return true
	}},
	{"retention", "a record that lives too long", func(_ *rapid.T, s *story) bool {
		if len(s.set.Records) == 0 {
			return false
		}
		s.set.Records[0].ExpiresUS += time.Hour.Microseconds()
		return true
	}},
	{"metrics-agree", "a counter gone mad", func(_ *rapid.T, s *story) bool {
		s.set.Counters[evidence.CounterName("idempotency_replay_total", "POST /api/trading/orders")] += 1000
		return true
	}},
	{"scope-isolated", "an order booked on another user", func(t *rapid.T, s *story) bool {
		if len(s.set.Orders) == 0 {
			return false
		}
		s.set.Orders[0].User = 9
		return true
	}},
	{"scope-isolated", "a stranger gets a replay", func(_ *rapid.T, s *story) bool {
		s.ask(s.op(k1, 9, "order", "a"), 5000, 5001, contract.AnswerReplay)
		return len(s.set.Orders) > 0
	}},
}

// drawRun is a right run of one to three users, each with the same key, told with all its rows.
func drawRun(t *rapid.T) *story {
	s := newStory()
	for user := range rapid.Int64Range(1, 3).Draw(t, "users") {
		a := drawAutomaton(t, rightAutomaton, time.Hour)
		a.tell(s, user+1, true)
		s.finish(a)
	}
	return s
}

// finish writes the record and the replay rows that the automaton leaves behind the operations told last.
func (s *story) finish(a *automaton) {
	first := int64(len(s.ops) - len(a.request))
	place := map[int64]int64{}
	for _, v := range a.visits { // operations are told in the order of their first visit
		if place[v.op] == 0 {
			place[v.op] = first + int64(len(place)) + 1
		}
		if v.answer == contract.AnswerReplay {
			s.replayed(place[v.op])
		}
	}
	if a.phase == absent {
		return
	}
	status := map[phase]string{inFlight: "in_flight", completed: "completed", failed: "failed"}[a.phase]
	s.record(place[a.owner.op], status)
	if r := &s.set.Records[len(s.set.Records)-1]; a.phase == completed {
		r.Body = `{"x": "` + a.body + `"}`
	}
}

// A run of random automata has unsettled keys and counts nothing, so those two invariants are not asked.
func TestARightRandomRunIsNotAccused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRun(t)
		s.set.Counters = nil
		for range rapid.IntRange(0, 4).Draw(t, "cut requests") { // which change nothing, whenever they come
			at := rapid.Int64Range(0, 300).Draw(t, "cut at")
			s.ask(rapid.Int64Range(1, int64(len(s.ops))).Draw(t, "cut"), at, at+1, "cut")
		}
		for _, f := range Judge(s.input()).Findings {
			if f.Invariant != "recovers" && (f.Status == verdict.Violated || f.Status == verdict.Inconclusive) {
				t.Fatalf("%s: %v %s %+v", f.Invariant, f.Status, f.Why, f.Violations)
			}
		}
	})
}

func TestABrokenFactIsNoticedByItsInvariant(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.invariant+"/"+m.fact, func(t *testing.T) {
			broken := 0
			rapid.Check(t, func(t *rapid.T) {
				s := drawRun(t)
				if !m.breakIt(t, s) {
					return
				}
				broken++
				if f := findingOf(Judge(s.input()), m.invariant); f.Status != verdict.Violated {
					t.Fatalf("%v: %s", f.Status, f.Why)
				}
			})
			if broken == 0 {
				t.Error("no run had the fact")
			}
		})
	}
}

func pick[T any](t *rapid.T, list []T) T {
	return list[rapid.IntRange(0, len(list)-1).Draw(t, "pick")]
}

func drop[T any](t *rapid.T, list *[]T) bool {
	if len(*list) == 0 {
		return false
	}
	i := rapid.IntRange(0, len(*list)-1).Draw(t, "drop")
	*list = append((*list)[:i:i], (*list)[i+1:]...)
	return true
}

func answers(s *story, answer contract.Answer) (list []*history.Attempt) {
	for _, e := range s.events {
		a := e.Attempt
		if a.Outcome == history.Returned && s.in.Contract.Classify(a.Status, a.Marked, a.Body) == answer {
			list = append(list, a)
		}
	}
	return list
}

// replayOf picks a replay of a key whose original the client saw; any replay if there is none.
func replayOf(t *rapid.T, s *story, fresh, replays []*history.Attempt) *history.Attempt {
	for _, f := range fresh {
		for _, r := range replays {
			if s.ops[f.Op-1].User == s.ops[r.Op-1].User {
				return r
			}
		}
	}
	return pick(t, replays)
}

func noneLost(s *story) bool {
	for _, e := range s.events {
		if e.Attempt.Outcome != history.Returned || e.Attempt.Status >= 500 {
			return false
		}
	}
	return true
}
