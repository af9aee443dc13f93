package check

import (
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// What a claim strategy does otherwise than the contract is allowed to it, and to nobody else.
func TestAStrategyIsJudgedByWhatItPromises(t *testing.T) {
	strangerInFlight := func(s *story) {
		first, other := s.order(k1, "a"), s.order(k1, "b")
		s.ask(first, 0, 30, contract.AnswerFresh)
		s.ask(other, 10, 20, contract.AnswerInFlight)
		s.execute(first)
		s.record(first, "completed")
	}
	afterTheWorker := func(s *story) {
		lost, seen, retry := s.order(k1, "a"), s.order(k1, "a"), s.order(k1, "a")
		s.ask(lost, 0, 10, "lost")
		s.ask(seen, 1, 2, contract.AnswerInFlight)
		s.ask(retry, 20, 30, contract.AnswerFresh)
		s.execute(retry)
		s.record(retry, "completed")
	}
	nobody := func(s *story) {
		first, other := s.order(k1, "a"), s.order(k1, "b")
		s.ask(other, 0, 5, contract.AnswerInFlight)
		s.ask(first, 10, 30, contract.AnswerFresh)
		s.execute(first)
		s.record(first, "completed")
	}
	for _, c := range []struct {
		name   string
		claims contract.Claims
		tell   func(*story)
		want   verdict.Status
	}{
		{"another body in flight, under the contract", contract.Claims{}, strangerInFlight, verdict.Violated},
		{"another body in flight, where the record is hidden", contract.Claims{HideBody: true}, strangerInFlight, verdict.Held},
		{"in flight although nobody was", contract.Claims{HideBody: true, EndWithWorker: true}, nobody, verdict.Violated},
		{"a retry after a lost worker, under the contract", contract.Claims{}, afterTheWorker, verdict.Violated},
		{"a retry after a lost worker, where the claim went with it", contract.Claims{EndWithWorker: true}, afterTheWorker, verdict.Held},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory()
			c.tell(s)
			in := s.input("legal-transitions")
			in.Contract.Claims = c.claims
			if got := findingOf(Judge(in), "legal-transitions"); got.Status != c.want {
				t.Errorf("%s (%s), want %s: %v", got.Status, got.Why, c.want, got.Violations)
			}
		})
	}
}
