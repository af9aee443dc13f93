package check

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// strike tells one fault of several: its moments in milliseconds, and the replica that it strikes, or 0.
func (s *story) strike(id, replica int, on string, struck, began, healed int64) {
	for _, f := range []history.Fault{
		{Phase: history.FaultStriking, AtNS: struck * ms},
		{Phase: history.FaultBegan, AtNS: began * ms},
		{Phase: history.FaultHealing, AtNS: healed * ms},
		{Phase: history.FaultHealed, AtNS: healed * ms, Bit: 7},
	} {
		f.ID, f.Name, f.On, f.Replica, f.Total = id, "path-refuse", on, replica, replica == 0
		s.events = append(s.events, history.Event{Fault: &f})
	}
}

func (s *story) windows(t *testing.T) []verdict.Window {
	t.Helper()
	in := s.input()
	run := verdict.Run{Verdict: Judge(in)}
	Summarise(in, &run)
	return run.Windows
}

// twoFaults is one key struck by the first fault and executed twice, one struck by both that never settled, one by none.
func twoFaults() *story {
	s := newStory()
	s.strike(1, 0, "store of all replicas", 90, 100, 200)
	s.strike(2, 0, "store of all replicas", 300, 300, 400)
	s.ask(s.order(k1, "a"), 80, 95, contract.AnswerFresh) // done before it began, but not before it struck
	s.execute(1)
	s.execute(1)
	stuck := s.order(k2, "b")
	s.ask(stuck, 150, 160, contract.AnswerStoreDown)
	s.ask(stuck, 350, 360, "lost")
	calm := s.order("33333333-3333-4333-8333-333333333333", "c")
	s.ask(calm, 500, 510, contract.AnswerFresh)
	s.execute(calm)
	return s
}

func TestEachFaultIsChargedWithWhatItStruckAndWithNothingElse(t *testing.T) {
	list := twoFaults().windows(t)
	if len(list) != 2 {
		t.Fatalf("%d faults, want 2", len(list))
	}
	for i, want := range []struct{ keys, shared, twice, lost, stuck, unsettled, attempts int64 }{
		{keys: 2, shared: 1, twice: 1, stuck: 1, unsettled: 1, attempts: 2},
		{keys: 1, shared: 1, twice: 0, stuck: 1, unsettled: 1, attempts: 1},
	} {
		w := list[i]
		if w.Keys != want.keys || w.Shared != want.shared || *w.Twice != want.twice || *w.Lost != want.lost || *w.Stuck != want.stuck ||
			w.Unsettled != want.unsettled || w.Attempts != want.attempts {
			t.Errorf("fault %d: %+v (twice %d, lost %d, stuck %d), want %+v", w.Fault, w, *w.Twice, *w.Lost, *w.Stuck, want)
		}
		if w.Kind != "path-refuse" || w.Bit != 7 || w.UntilNS == 0 {
			t.Errorf("fault %d is described as %+v", w.Fault, w)
		}
	}
	if a := list[0].Answers; a.OK != 1 || a.Unavailable != 1 {
		t.Errorf("answers in the first fault: %+v", a)
	}
	if a := list[1].Answers; a.None != 1 {
		t.Errorf("answers in the second fault: %+v", a)
	}
}

func TestInvariantsSayForEachFaultWhatTheyLookedAtAndFound(t *testing.T) {
	v := Judge(twoFaults().input())
	cases := []struct {
		id            string
		looked, count [2]int64
	}{
		{"at-most-once", [2]int64{2, 1}, [2]int64{1, 0}},
		{"acked-durable", [2]int64{1, 0}, [2]int64{1, 0}}, // two orders are not what was acknowledged
		{"recovers", [2]int64{2, 1}, [2]int64{1, 1}},
		{"fail-closed", [2]int64{1, 1}, [2]int64{0, 0}},
		{"fail-open", [2]int64{}, [2]int64{}},
		{"zombie-fenced", [2]int64{}, [2]int64{}},
	}
	for _, c := range cases {
		f := findingOf(v, c.id)
		if len(f.Faults) != 2 {
			t.Fatalf("%s says nothing for each fault: %+v", c.id, f.Faults)
		}
		for i, tally := range f.Faults {
			if tally.Fault != i+1 || tally.Looked != c.looked[i] || tally.Count != c.count[i] || tally.Missing != 0 {
				t.Errorf("%s in fault %d: %+v, want %d looked at, %d violations", c.id, i+1, tally, c.looked[i], c.count[i])
			}
			if (tally.Count > 0) != (tally.Example != "") {
				t.Errorf("%s in fault %d: an example goes with a violation: %+v", c.id, i+1, tally)
			}
		}
	}
}

func TestAnAcknowledgedKeyWithoutItsOrderIsLostInTheFaultThatStruckIt(t *testing.T) {
	s := newStory()
	s.strike(1, 0, "both of all replicas", 100, 100, 200)
	s.ask(s.order(k1, "a"), 90, 110, contract.AnswerFresh)
	if w := s.windows(t)[0]; *w.Lost != 1 || *w.Twice != 0 || *w.Stuck != 0 {
		t.Errorf("lost %d, twice %d, stuck %d", *w.Lost, *w.Twice, *w.Stuck)
	}
}

func TestAFaultOfOneReplicaIsNotChargedWithRequestsToAnother(t *testing.T) {
	s := newStory()
	s.strike(1, 2, "both of replica 2", 100, 100, 200)
	for n, replica := range []int{1, 2} {
		s.ask(s.order([]string{k1, k2}[n], "a"), 110, 120, contract.AnswerFailed)
		s.events[len(s.events)-1].Attempt.Replica = replica
	}
	w := s.windows(t)[0]
	if w.Attempts != 1 || w.Keys != 1 || *w.Stuck != 1 {
		t.Errorf("%d attempts, %d keys, %d stuck", w.Attempts, w.Keys, *w.Stuck)
	}
}

func TestWhatWasNotJudgedIsNotShownAsNone(t *testing.T) {
	s := twoFaults()
	s.set.Orders, s.set.Audits, s.set.Charges = nil, nil, nil
	if w := s.windows(t)[0]; w.Twice != nil || w.Lost != nil {
		t.Errorf("twice %v, lost %v without any rows to tell", w.Twice, w.Lost)
	}
}

// series makes marks one millisecond apart from 1 ms on, one a letter: e an error, anything else an answer.
func series(letters string) (list []mark) {
	for i, c := range letters {
		list = append(list, mark{done: int64(i+1) * ms, bad: c == 'e'})
	}
	return list
}

func TestTheErrorRateIsBackAfterTheLastErrorBeforeAStretchLikeBefore(t *testing.T) {
	good := strings.Repeat(".", stretch)
	cases := []struct {
		name, marks string
		until       int64
		level       float64
		want        time.Duration
		known       bool
	}{
		{"at once", good, forever, 0, 0, true},
		{"after three errors", "eee" + good, forever, 0, 3 * time.Millisecond, true},
		{"a lone success is no recovery", "e.e" + good, forever, 0, 3 * time.Millisecond, true},
		{"later errors are another matter", "e" + good + "ee", forever, 0, time.Millisecond, true},
		{"errors as before", "e.........e........." + good, forever, 0.1, 0, true},
		{"more errors than before", "eee.......e........." + good, forever, 0.1, 2 * time.Millisecond, true},
		{"never", strings.Repeat("e", 3*stretch), forever, 0, 0, false},
		{"too few", good[1:], forever, 0, 0, false},
		{"nothing", "", forever, 0, 0, false},
		{"not before the next strike", "e" + good, int64(stretch) * ms, 0, 0, false},
	}
	for _, c := range cases {
		got, why := errorsBack(series(c.marks), 0, c.until, c.level)
		if got != c.want || (why == "") != c.known {
			t.Errorf("%s: %v, %q", c.name, got, why)
		}
	}
}

func TestTheErrorLevelIsThatOfWhatEndedBefore(t *testing.T) {
	if got := errorLevel(series("e...eeee"), 5*ms); got != 0.25 {
		t.Errorf("level %v, want 0.25", got)
	}
	if got := errorLevel(nil, forever); got != 0 {
		t.Errorf("level %v of nothing", got)
	}
}

// The moment found must hold by the definition itself, tried by brute force.
func TestTheErrorRateIsBackByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		marks := series(rapid.StringMatching(`[.e]{0,70}`).Draw(t, "marks"))
		level := rapid.SampledFrom([]float64{0, 0.05, 0.3, 1}).Draw(t, "level")
		got, why := errorsBack(marks, 0, forever, level)
		want, found := time.Duration(0), false
		for i := 0; i+stretch <= len(marks) && !found; i++ {
			errors := 0
			for _, m := range marks[i : i+stretch] {
				errors += ones(m.bad)
			}
			if found = float64(errors) <= level*stretch; found && i > 0 {
				want = time.Duration(marks[i-1].done)
			}
		}
		if found != (why == "") || (found && got != want) {
			t.Fatalf("%v %q, want %v (%v)", got, why, want, found)
		}
	})
}
