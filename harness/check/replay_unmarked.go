package check

import "github.com/idemstorm/idemstorm/harness/contract"

// unmarkedReplays compares the successful answers of a key whose replays bear no marker: whichever was the original, all must equal it.
func (s *scope) unmarkedReplays(sh *sheet) {
	var first *attempt
	for i := range s.attempts {
		a := &s.attempts[i]
		switch {
		case a.answer() != contract.AnswerDone:
		case first == nil:
			first = a
		case a.op.request == first.op.request:
			sh.look()
			if a.status != first.status || a.body != first.body {
				sh.violate(s.unfaithful(a, original{status: first.status, body: first.body, attempt: first}))
			}
		}
	}
}
