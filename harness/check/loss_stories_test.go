package check

import "github.com/idemstorm/idemstorm/harness/contract"

// laterSurvives is another key, sent at a moment, answered in the time of the loss, and there.
func laterSurvives(s *story, sent int64) {
	later := s.order(k2, "b")
	s.ask(later, sent, 1300, contract.AnswerFresh)
	s.execute(later)
	s.record(later, "completed")
}

// lostAndAgain is one key whose order is lost, and which another operation runs again, and a replay of each.
func lostAndAgain(s *story) {
	s.crash()
	first, second := s.order(k1, "a"), s.order(k1, "a")
	s.ask(first, 1100, 1200, contract.AnswerFresh)
	s.say("1")
	s.ask(second, 1250, 1300, contract.AnswerReplay)
	s.say("1")
	s.ask(second, 2600, 2700, contract.AnswerFresh)
	s.say("2")
	s.ask(first, 2750, 2800, contract.AnswerReplay)
	s.say("2")
	s.execute(second)
	s.record(second, "completed")
	s.stored("2")
	s.replayed(first)
}

// lostAndUnheard is the same, the second execution's answer having been lost.
func lostAndUnheard(s *story) {
	s.crash()
	first, second := s.order(k1, "a"), s.order(k1, "a")
	s.ask(first, 1100, 1200, contract.AnswerFresh)
	s.say("1")
	s.ask(second, 2600, 2700, "lost")
	s.ask(first, 2750, 2800, contract.AnswerReplay)
	s.say("2")
	s.execute(second)
	s.record(second, "completed")
	s.stored("2")
	s.replayed(first)
}

// survivedAndAgain is a key that was acknowledged in the time of the loss, has survived, and runs again.
func survivedAndAgain(s *story) {
	s.crash()
	first, second := s.order(k1, "a"), s.order(k1, "a")
	s.ask(first, 1100, 1200, contract.AnswerFresh)
	s.say("1")
	s.ask(second, 2600, 2700, contract.AnswerFresh)
	s.say("2")
	s.execute(first)
	s.execute(second)
	s.record(first, "completed")
	s.stored("1")
}

// replayedAt is a key of before with one replay whose row is gone.
func replayedAt(at int64) func(*story) {
	return func(s *story) {
		s.crash()
		s.ask(s.order(k1, "a"), 700, 750, contract.AnswerFresh)
		s.ask(1, at, at+50, contract.AnswerReplay)
		s.execute(1)
		s.record(1, "completed")
	}
}

// foreignTakes is a key of one request, refused to another, and taken by that one afterwards.
func foreignTakes(at int64) func(*story) {
	return func(s *story) {
		s.crash()
		first, other := s.order(k1, "a"), s.order(k1, "b")
		s.ask(first, at, at+50, contract.AnswerFresh)
		s.say("1")
		s.ask(other, at+60, at+70, contract.AnswerMismatch)
		s.ask(other, 1300, 1350, contract.AnswerMismatch)
		s.ask(other, 2600, 2700, contract.AnswerFresh)
		s.say("2")
		s.ask(first, 2800, 2850, contract.AnswerMismatch)
		s.execute(other)
		s.record(other, "completed")
		s.stored("2")
	}
}
