package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

func TestPartOfAHistoryNeverHolds(t *testing.T) {
	s := newStory()
	raceOnce(s)
	s.execute(2)
	in := s.input("at-most-once", "acked-durable", "recovers")
	in.Events = sequence(s.events, history.ErrTruncated)
	v := Judge(in)
	for _, f := range v.Findings {
		if f.Status == verdict.Held {
			t.Errorf("%s holds by part of a history", f.Invariant)
		}
	}
	if f := findingOf(v, "at-most-once"); f.Status != verdict.Violated {
		t.Errorf("a violation went with the rest: %v %s", f.Status, f.Why)
	}
	if len(v.Doubts) == 0 {
		t.Error("no doubt says that the history is cut off")
	}
}

func TestAnUnknownClaimAndAnUnreadablePlanAreDoubts(t *testing.T) {
	s := newStory()
	raceOnce(s)
	in := s.input("at-most-twice")
	in.Operations = sequence(s.ops, errors.New("bad plan"))
	v := Judge(in)
	if all := strings.Join(v.Doubts, "\n"); !strings.Contains(all, "at-most-twice") || !strings.Contains(all, "bad plan") {
		t.Errorf("doubts: %v", v.Doubts)
	}
}

func TestAnAttemptWithoutAnOperationIsADoubt(t *testing.T) {
	s := newStory()
	raceOnce(s)
	s.events = append(s.events, history.Event{Attempt: &history.Attempt{Op: 99}})
	if v := Judge(s.input()); len(v.Doubts) != 1 {
		t.Errorf("doubts: %v", v.Doubts)
	}
}

func TestANoteOfInterruptionInterruptsTheVerdict(t *testing.T) {
	s := newStory()
	s.note(1, "interrupted", "stopped")
	if !Judge(s.input()).Interrupted {
		t.Error("not interrupted")
	}
}

func TestMissingEvidenceIsNamed(t *testing.T) {
	s := newStory()
	raceOnce(s)
	s.set.Records = nil
	v := Judge(s.input("nothing-unclaimed"))
	if f := findingOf(v, "nothing-unclaimed"); f.Status != verdict.Inconclusive || f.Why != "no records query named" {
		t.Errorf("%v: %s", f.Status, f.Why)
	}
	if f := findingOf(v, "retention"); f.Status != verdict.NotJudged {
		t.Errorf("unclaimed and without evidence: %v", f.Status)
	}
}

func TestACounterexampleNamesKeyOperationsAndRows(t *testing.T) {
	s := newStory()
	raceOnce(s)
	s.execute(2)
	f := findingOf(Judge(s.input("at-most-once")), "at-most-once")
	v := f.Violations[0]
	want := "Key " + k1 + " of user 4 on POST /api/trading/orders was executed 2 times: orders 2 and 7."
	if v.Sentence != want {
		t.Errorf("%q, want %q", v.Sentence, want)
	}
	if v.Key != k1 || v.User != 4 || len(v.Rows) != 2 || len(v.Ops) == 0 || v.Ops[0] != (history.Ref{Op: 1, N: 1}) {
		t.Errorf("%+v", v)
	}
}

func TestTheSmallestCounterexamplesAreKeptAndAllAreCounted(t *testing.T) {
	s := &sheet{}
	for n := 20; n > 0; n-- {
		s.violate(violation{Ops: make([]history.Ref, n)})
	}
	if s.count != 20 || len(s.violations) != verdict.MaxViolations {
		t.Fatalf("%d counted, %d kept", s.count, len(s.violations))
	}
	for i, v := range s.violations {
		if len(v.Ops) != i+1 {
			t.Errorf("place %d has size %d", i, len(v.Ops))
		}
	}
}

func TestAnUnfaithfulReplayIsQuoted(t *testing.T) {
	s := newStory()
	raceOnce(s)
	s.attempt(2).Body = []byte(`{"order":"forged"}`)
	v := findingOf(Judge(s.input()), "replay-fidelity").Violations[0]
	if !strings.Contains(v.Seen, "forged") || !strings.Contains(v.Expected, k1) {
		t.Errorf("expected %q, seen %q", v.Expected, v.Seen)
	}
}

func TestTheSummaryCountsAndShowsTheCases(t *testing.T) {
	s := newStory()
	raceOnce(s)
	s.execute(2)
	s.ask(s.order(k2, "b"), 60, 70, "lost")
	s.fault("store of all replicas", 50, 100)
	s.ask(3, 110, 130, contract.AnswerFresh)
	in := s.input("at-most-once")
	run := verdict.Run{Verdict: Judge(in)}
	Summarise(in, &run)
	c := run.Counts
	if c.Operations != 3 || c.Attempts != 5 || c.Returned != 4 || c.Lost != 1 || c.Keys != 2 || c.Answers["fresh"] != 2 {
		t.Errorf("%+v", c)
	}
	if len(run.Cases) < 2 || run.Cases[0].Operation.ID != 1 || run.Cases[0].Answers[0] != "fresh" {
		t.Errorf("%+v", run.Cases)
	}
	if len(run.Recovery) != 1 || run.Recovery[0].Unsettled != 1 || run.Recovery[0].Longest.Milliseconds() != 30 {
		t.Errorf("%+v", run.Recovery)
	}
	ended := int64(0)
	for _, slot := range run.Timeline {
		for _, n := range slot.Ended {
			ended += n
		}
	}
	if ended != 5 || len(run.Timeline) > slots {
		t.Errorf("%d attempts on %d slots", ended, len(run.Timeline))
	}
	if len(run.Faults) != 3 {
		t.Errorf("%d fault lines", len(run.Faults))
	}
}
