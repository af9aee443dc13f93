package check

import (
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// A claim that ends with its worker cannot be retired under it: a scenario that claims to judge that lacks no data.
func TestWhatCannotAriseWithTheSubjectsClaimsIsNotJudged(t *testing.T) {
	stale := func(s *story) {
		op := s.order(k1, "a")
		s.ask(op, 0, 5, "lost")
		s.ask(op, 60, 65, contract.AnswerStale)
		s.ask(op, 70, 75, contract.AnswerFresh)
		s.execute(op)
		s.record(op, "completed")
	}
	for _, c := range []struct {
		name   string
		story  func(*story)
		claims contract.Claims
		want   verdict.Status
	}{
		{"nothing stale, claims that outlive their worker", raceOnce, contract.Claims{}, verdict.Inconclusive},
		{"nothing stale, claims that end with it", raceOnce, contract.Claims{EndWithWorker: true}, verdict.NotJudged},
		{"stale all the same", stale, contract.Claims{EndWithWorker: true}, verdict.Held},
	} {
		s := newStory()
		c.story(s)
		in := s.input("zombie-fenced", "at-most-once")
		in.Contract.Claims = c.claims
		f := findingOf(Judge(in), "zombie-fenced")
		if f.Status != c.want || (c.want == verdict.NotJudged) != strings.HasPrefix(f.Why, "a claim ends with") {
			t.Errorf("%s: %s (%s), want %s", c.name, f.Status, f.Why, c.want)
		}
		in.Contract.Claims.EndWithWorker = true
		if f := findingOf(Judge(in), "recovers"); strings.HasPrefix(f.Why, "a claim ends with") {
			t.Errorf("%s: recovers is excused too", c.name)
		}
	}
}
