package check

import (
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Moments of the lossy crash in these stories, in milliseconds: up to safe everything has survived, at strike the server was killed, at over another
// took over.
const (
	safe   = 1000
	strike = 1500
	over   = 2500
)

// crash tells of a lossy fault, which the scenario states.
func (s *story) crash() {
	s.in.Limits.Loss = Loss{Fault: 1, Kind: "failover", Window: time.Second}
	s.struck()
}

// struck tells of the same fault, without the scenario's leave.
func (s *story) struck() {
	s.note(safe, noteSafe, "failover")
	s.note(strike, noteStruck, "failover")
	for phase, at := range map[string]int64{history.FaultBegan: strike + 10, history.FaultHealing: over, history.FaultHealed: over + 100} {
		s.events = append(s.events, history.Event{Fault: &history.Fault{ID: 1, Name: "failover", On: "postgres", Phase: phase, AtNS: at * ms, Total: true}})
	}
}

// say changes the body of the last answer.
func (s *story) say(order string) {
	s.attempt(len(s.events) - 1).Body = []byte(`{"order_id": "` + order + `"}`)
}

// stored changes the body of the last record.
func (s *story) stored(order string) {
	s.set.Records[len(s.set.Records)-1].Body = `{"order_id": "` + order + `"}`
}

// lossy are stories of a lossy crash: what each invariant makes of them, and how many orders are listed as lost.
var lossy = []struct {
	name      string
	invariant string
	want      verdict.Status
	lost      int
	tell      func(s *story)
}{
	{"acknowledged in the time of the loss, and gone", "acked-durable", verdict.Held, 1, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
	}},
	{"read by the client after the kill, before the new database", "acked-durable", verdict.Held, 1, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1490, 1600, contract.AnswerFresh)
	}},
	{"acknowledged before the time of the loss, and gone", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 900, 999, contract.AnswerFresh)
	}},
	{"acknowledged by the new database, and gone", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 2600, 2700, contract.AnswerFresh)
	}},
	{"sent to the old database and acknowledged by the new, and gone", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1400, 2700, contract.AnswerFresh)
	}},
	{"the scenario states no weakened durability", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.struck()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
	}},
	{"the fault never struck", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.events = nil
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
	}},
	{"the loss of another fault", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.in.Limits.Loss.Fault = 2
		s.events = s.events[2:] // nor do notes speak of it
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
	}},
	{"acknowledged before, replayed in the time of the loss, and gone", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 900, 950, contract.AnswerFresh)
		s.ask(1, 1100, 1200, contract.AnswerReplay)
	}},
	{"a later order has survived, which a crash cannot do", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		laterSurvives(s, 1201)
	}},
	{"an order that was under way together with a lost one has survived", "acked-durable", verdict.Held, 1, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		laterSurvives(s, 1199)
	}},
	{"a surviving order is in flight again", "legal-transitions", verdict.Violated, 0, func(s *story) {
		s.crash()
		laterSurvives(s, 1100)
		s.ask(1, 2600, 2610, contract.AnswerInFlight)
	}},
	{"nothing is lost", "acked-durable", verdict.Inconclusive, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.execute(1)
		s.record(1, "completed")
	}},
	{"one leg of a roll is gone", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.op(k1, 4, "roll", "a"), 1100, 1200, contract.AnswerFresh)
		s.execute(1)
		s.set.Orders = s.set.Orders[:1]
	}},
	{"a charge is gone, which no database can lose", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.op(k1, 4, "checkout", "a"), 1100, 1200, contract.AnswerFresh)
	}},
	{"an order without a key, in the time of the loss", "acked-durable", verdict.Held, 1, func(s *story) {
		s.crash()
		s.ask(s.order("", "a"), 1100, 1200, contract.AnswerFresh)
	}},
	{"an order without a key, before it", "acked-durable", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order("", "a"), 800, 900, contract.AnswerFresh)
	}},

	{"a lost order runs again", "acked-durable", verdict.Held, 1, lostAndAgain},
	{"a lost order runs again", "at-most-once", verdict.Held, 1, lostAndAgain},
	{"a lost order runs again", "legal-transitions", verdict.Held, 1, lostAndAgain},
	{"a lost order runs again", "replay-fidelity", verdict.Held, 1, lostAndAgain},
	{"a lost order runs again", "replay-audited", verdict.Held, 1, lostAndAgain},
	{"a lost order runs again", "money-conserved", verdict.Held, 1, lostAndAgain},
	{"a lost order runs again, twice", "at-most-once", verdict.Violated, 1, func(s *story) { lostAndAgain(s); s.execute(2) }},
	{"a lost order runs again, and is acknowledged twice", "legal-transitions", verdict.Violated, 1, func(s *story) {
		lostAndAgain(s)
		s.ask(2, 2900, 2950, contract.AnswerFresh)
	}},
	{"a lost order runs again, and another is replayed", "replay-fidelity", verdict.Violated, 1, func(s *story) {
		lostAndAgain(s)
		s.ask(2, 2900, 2950, contract.AnswerReplay)
		s.say("7")
	}},
	{"a lost order runs again, unheard", "acked-durable", verdict.Held, 1, lostAndUnheard},
	{"a lost order runs again, unheard", "legal-transitions", verdict.Held, 1, lostAndUnheard},
	{"a lost order runs again, unheard", "replay-fidelity", verdict.Held, 1, lostAndUnheard},
	{"a surviving order runs again", "at-most-once", verdict.Violated, 0, survivedAndAgain},
	{"a surviving order runs again", "legal-transitions", verdict.Violated, 0, survivedAndAgain},
	{"a surviving order's replay says something else", "replay-fidelity", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.say("1")
		s.execute(1)
		s.record(1, "completed")
		s.stored("1")
		s.ask(1, 2600, 2700, contract.AnswerReplay)
		s.say("2")
	}},
	{"an order of before runs again, its first rows gone", "legal-transitions", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 900, 950, contract.AnswerFresh)
		s.ask(1, 1100, 1200, contract.AnswerReplay)
		s.ask(s.order(k1, "a"), 2600, 2700, contract.AnswerFresh)
		s.execute(2)
		s.record(2, "completed")
	}},

	{"a failure's record is lost, and the key runs", "legal-transitions", verdict.Held, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerRejected)
		s.ask(1, 1300, 1400, contract.AnswerPreviousFailed)
		s.ask(1, 2600, 2700, contract.AnswerFresh)
		s.execute(1)
		s.record(1, "completed")
	}},
	{"a failure of before is forgotten, and the key runs", "legal-transitions", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 800, 850, contract.AnswerRejected)
		s.ask(1, 900, 950, contract.AnswerPreviousFailed)
		s.ask(1, 1300, 1400, contract.AnswerPreviousFailed)
		s.ask(1, 2600, 2700, contract.AnswerFresh)
		s.execute(1)
		s.record(1, "completed")
	}},
	{"a failure's record is lost for good", "retention", verdict.Inconclusive, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerRejected)
		s.ask(1, 1300, 1400, contract.AnswerPreviousFailed)
	}},
	{"a failure's record of before is lost for good", "retention", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 800, 850, contract.AnswerRejected)
		s.ask(1, 900, 950, contract.AnswerPreviousFailed)
	}},
	{"a claim has survived its completion", "legal-transitions", verdict.Held, 1, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.say("1")
		s.ask(1, 2600, 2610, contract.AnswerStale)
		s.ask(1, 2700, 2750, contract.AnswerFresh)
		s.say("2")
		s.execute(1)
		s.record(1, "completed")
		s.stored("2")
	}},
	{"a record of a lost order is in flight for ever, and nobody asks", "legal-transitions", verdict.Held, 1, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.record(1, "in_flight")
	}},
	{"a record of before is in flight again", "legal-transitions", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 900, 950, contract.AnswerFresh)
		s.execute(1)
		s.record(1, "in_flight")
	}},

	{"the row of a replay in the time of the loss is gone", "replay-audited", verdict.Held, 0, replayedAt(1100)},
	{"the row of a replay before it is gone", "replay-audited", verdict.Violated, 0, replayedAt(900)},
	{"the row of a replay after it is gone", "replay-audited", verdict.Violated, 0, replayedAt(2700)},
	{"a row too many", "replay-audited", verdict.Violated, 0, func(s *story) {
		replayedAt(1100)(s)
		s.replayed(1)
		s.replayed(1)
	}},

	{"another request takes a lost key", "mismatch-rejected", verdict.Held, 1, foreignTakes(1100)},
	{"another request takes a lost key", "legal-transitions", verdict.Held, 1, foreignTakes(1100)},
	{"another request takes a key of before", "mismatch-rejected", verdict.Violated, 0, foreignTakes(800)},
	{"another request takes a key of before", "legal-transitions", verdict.Violated, 0, foreignTakes(800)},

	{"an order has survived without its audit row", "order-audit-match", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.execute(1)
		s.set.Audits = s.set.Audits[:0]
	}},
	{"money has survived without its order", "money-conserved", verdict.Violated, 1, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.execute(1)
		s.set.Orders, s.set.Audits = s.set.Orders[:0], s.set.Audits[:0]
	}},
	{"an order has survived without its record", "nothing-unclaimed", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.execute(1)
	}},
	{"the new database executes for a worker whose claim it does not have", "nothing-unclaimed", verdict.Violated, 0, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1400, 2700, contract.AnswerFresh)
		s.execute(1)
	}},
	{"a lost key never settles", "recovers", verdict.Violated, 1, func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 1100, 1200, contract.AnswerFresh)
		s.ask(s.order(k1, "a"), 2600, 2700, contract.AnswerInFlight)
	}},
}

func TestALossIsExcusedByWhatTheScenarioStatesAndNoFurther(t *testing.T) {
	for _, c := range lossy {
		t.Run(c.invariant+"/"+c.name, func(t *testing.T) {
			s := newStory()
			c.tell(s)
			v := Judge(s.input(c.invariant))
			if f := findingOf(v, c.invariant); f.Status != c.want {
				t.Errorf("%v %s %+v, want %v", f.Status, f.Why, f.Violations, c.want)
			}
			if lost := lostOf(v); len(lost) != c.lost {
				t.Errorf("%d orders are listed as lost, want %d: %+v", len(lost), c.lost, lost)
			}
		})
	}
}

func lostOf(v verdict.Verdict) []verdict.Lost {
	if v.Losses == nil {
		return nil
	}
	return v.Losses.Orders
}

func TestALostOrderIsNamedWithItsMoment(t *testing.T) {
	s := newStory()
	lostAndAgain(s)
	lost := lostOf(Judge(s.input()))
	want := verdict.Lost{
		Key: k1, User: 4, Endpoint: "POST /api/trading/orders", Order: "1", Attempt: history.Ref{Op: 1, N: 1}, AckedNS: 1200 * ms, BeforeNS: 300 * ms, Again: true,
	}
	if len(lost) != 1 || lost[0] != want {
		t.Errorf("got  %+v\nwant %+v", lost, want)
	}
}

func TestOrdersAreNamedAsTheAnswersNameThem(t *testing.T) {
	for body, want := range map[string]string{
		`{"order_id": 7, "execution_id": "e"}`:                   "7",
		`{"id": "o-1"}`:                                          "o-1",
		`{"legs": [{"order_id": 7, "leg": 1}, {"order_id": 8}]}`: "7, 8",
		`{"ok": true}`:                                           `{"ok": true}`,
		`done`:                                                   "done",
	} {
		if got := orderNames([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// A strike that came too late after the last safe moment is the machine's fault, and no run with one is shown as held.
func TestAStrikeThatReachesFurtherThanStatedIsADoubt(t *testing.T) {
	s := newStory()
	s.crash()
	s.in.Limits.Loss.Window = 400 * time.Millisecond
	s.ask(s.order(k1, "a"), 1010, 1020, contract.AnswerFresh)
	v := Judge(s.input("acked-durable"))
	if len(v.Doubts) != 1 || !strings.Contains(v.Doubts[0], "too slow") {
		t.Errorf("doubts: %v", v.Doubts)
	}
	if v.Exit() != verdict.ExitInconclusive {
		t.Errorf("exit %d", v.Exit())
	}
}

func TestAStatedLossStandsInTheSentence(t *testing.T) {
	s := newStory()
	lostAndAgain(s)
	if sentence := Judge(s.input()).Sentence(); !strings.Contains(sentence, "acknowledged and lost, as stated: 1") {
		t.Error(sentence)
	}
}
