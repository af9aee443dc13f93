package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// late tells that the machine was late for so long until a moment, in milliseconds.
func (s *story) late(until, long int64) {
	s.events = append(s.events, history.Event{Note: &history.Note{AtNS: until * ms, Kind: noteLate, Text: fmt.Sprintf("%dms", long)}})
}

// A bound on the clock accuses the server only where the machine kept time.
func TestABoundOnTheClockIsNoProofOnAMachineThatWasLate(t *testing.T) {
	const bound = 6000
	never := func(s *story) { s.ask(s.order(k1, "a"), 0, 5, "lost") }
	tooLate := func(s *story) {
		op := s.order(k1, "a")
		s.ask(op, 0, 5, "lost")
		s.ask(op, 4000, bound+200, contract.AnswerFresh)
		s.attempt(1).Settle = true
		s.execute(op)
	}
	prompt := func(s *story) { // in flight for ever, by a server that has the time to say so
		op := s.order(k1, "a")
		s.ask(op, 0, 5, "lost")
		for at := int64(100); at < bound; at += 100 {
			s.ask(op, at, at+3, contract.AnswerInFlight)
			s.attempt(int(at / 100)).Settle = true
		}
	}
	slow := func(s *story) { // likewise, but one of its executions took as long as the server lets any
		prompt(s)
		s.attempt(3).DoneNS = s.attempt(3).SentNS + 1500*ms
	}
	for _, c := range []struct {
		name  string
		story func(*story)
		late  [][2]int64 // until when, and for how long
		want  verdict.Status
	}{
		{"never settled, on time", never, nil, verdict.Violated},
		{"never settled, late", never, [][2]int64{{1000, 400}, {5000, 300}}, verdict.Inconclusive},
		{"never settled, late for too short", never, [][2]int64{{1000, 400}}, verdict.Violated},
		{"never settled, late before the bound began", never, [][2]int64{{6, 4000}}, verdict.Violated},
		{"never settled, late after the bound", never, [][2]int64{{9000, 2900}}, verdict.Violated},
		{"settled after the bound, on time", tooLate, nil, verdict.Violated},
		{"settled after the bound, late", tooLate, [][2]int64{{4800, 700}}, verdict.Inconclusive},
		{"asked and answered all along, late", prompt, [][2]int64{{3000, 2000}}, verdict.Violated},
		{"asked all along and once slow, late", slow, [][2]int64{{3000, 2000}}, verdict.Inconclusive},
		{"asked all along and once slow, on time", slow, nil, verdict.Violated},
	} {
		s := newStory()
		c.story(s)
		for _, l := range c.late {
			s.late(l[0], l[1])
		}
		in := s.input("recovers")
		in.Limits.Recovery = bound * time.Millisecond
		f := findingOf(Judge(in), "recovers")
		if f.Status != c.want || (c.want == verdict.Inconclusive) != strings.HasPrefix(f.Why, "the machine was late for ") {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Status, f.Why, c.want)
		}
	}
}

func TestANoteThatIsNoTimeExcusesNothing(t *testing.T) {
	s := newStory()
	s.ask(s.order(k1, "a"), 0, 5, "lost")
	for _, text := range []string{"", "long", "-40s", "40"} {
		s.events = append(s.events, history.Event{Note: &history.Note{AtNS: 3000 * ms, Kind: noteLate, Text: text}})
	}
	if f := findingOf(Judge(s.input("recovers")), "recovers"); f.Status != verdict.Violated {
		t.Errorf("%s: %s", f.Status, f.Why)
	}
}
