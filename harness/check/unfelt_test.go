package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

func (s *story) unfelt(t *testing.T) []string {
	t.Helper()
	in := s.input()
	run := verdict.Run{Verdict: Judge(in)}
	Summarise(in, &run)
	return Unfelt(run)
}

func TestAFaultThatNobodyFeltProvesNothing(t *testing.T) {
	struck := func(on string, bit, from, until int64) *story {
		s := newStory()
		s.strike(1, 0, on, from, from, until)
		s.events[len(s.events)-1].Fault.Bit = bit
		s.ask(s.order(k1, "a"), 110, 120, contract.AnswerFresh)
		s.execute(1)
		return s
	}
	for name, c := range map[string]struct {
		story *story
		want  string // part of the sentence; "" for a fault that was felt
	}{
		"felt by a request under way":                      {struck("store of all replicas", 3, 100, 200), ""},
		"felt by nothing":                                  {struck("store of all replicas", 0, 100, 200), "no connection, statement, process or row felt it"},
		"felt when no request was under way":               {struck("replica 1", 1, 300, 400), "no request was under way"},
		"felt by records that a later request meets":       {struck("records", 2, 20, 30), ""},
		"felt by no record":                                {struck("records", 0, 20, 30), "row felt it"},
		"a redis that came back empty between two phases":  {struck("redis", 1, 20, 30), ""},
		"a clock that was wrong when nobody asked anybody": {struck("clock of replica 1", 2, 20, 30), "no request was under way"},
	} {
		got := c.story.unfelt(t)
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %q", name, got)
		case c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], "fault 1, path-refuse on ") || !strings.Contains(got[0], c.want)):
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAFaultWithoutAHealingProvesNothingUnlessTheRunWasStopped(t *testing.T) {
	s := newStory()
	s.strike(1, 0, "store of all replicas", 100, 100, 200)
	s.events = slices.DeleteFunc(s.events, func(e history.Event) bool { return e.Fault != nil && e.Fault.Phase == history.FaultHealed })
	s.ask(s.order(k1, "a"), 110, 120, contract.AnswerFresh)
	s.execute(1)
	if got := s.unfelt(t); len(got) != 1 || !strings.Contains(got[0], "no healing") {
		t.Errorf("%q", got)
	}
	s.events = append(s.events, history.Event{Note: &history.Note{AtNS: 130 * ms, Kind: noteInterrupted}})
	if got := s.unfelt(t); len(got) > 0 {
		t.Errorf("of a run that was stopped: %q", got)
	}
}
