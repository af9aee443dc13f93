package check

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// crowd is one key with many overlapping duplicates: one executes, some are replayed, and of nine in ten nobody knows.
func crowd(duplicates int) *story {
	s := newStory()
	for i := range duplicates {
		id := s.order(k1, "a")
		a := history.Attempt{Op: id, N: 1, SentNS: int64(i), DoneNS: int64(i) + 1_000_000, Outcome: history.Lost}
		if i == 0 || i%10 == 9 {
			a = told[contract.AnswerReplay]
			if i == 0 {
				a = told[contract.AnswerFresh]
			}
			a.Op, a.N, a.SentNS, a.DoneNS, a.Outcome = id, 1, int64(i), int64(i)+1_000_000, history.Returned
		}
		s.events = append(s.events, history.Event{Attempt: &a})
	}
	s.execute(1)
	s.record(1, "completed")
	return s
}

// The work is counted, not timed: ten times the duplicates are at most a little more than ten times the steps.
func TestOneKeyIsJudgedInLinearWork(t *testing.T) {
	steps := func(n int) int {
		l := lifeIn(crowd(n))
		broken, steps := l.judgeCounting()
		if broken != nil {
			t.Fatalf("a right key is accused: %s", broken.rule)
		}
		return steps
	}
	small, large := steps(1_000), steps(10_000)
	if large > 11*small {
		t.Errorf("%d steps for 1,000 duplicates, %d for 10,000", small, large)
	}
	if large > 10*10_000 {
		t.Errorf("%d steps for 10,000 duplicates", large)
	}
}

func BenchmarkOneKeyWith10000Duplicates(b *testing.B) {
	in := crowd(10_000).input(IDs()...)
	for b.Loop() {
		Judge(in)
	}
}

// BenchmarkMillionAttempts judges 100,000 keys of ten attempts each, events made on the fly: the reading of files is not in it.
func BenchmarkMillionAttempts(b *testing.B) {
	const keys, each = 100_000, 10
	s := newStory()
	in := s.input(IDs()...)
	in.Operations = func(yield func(history.Operation, error) bool) {
		for i := range int64(keys * each) {
			o := history.Operation{
				ID: i + 1, Route: "order", User: 1 + i/each%9, Method: "POST", Path: "/api/trading/orders",
				Key: fmt.Sprintf("%08x-0000-4000-8000-000000000000", i/each), Request: "a",
			}
			if !yield(o, nil) {
				return
			}
		}
	}
	in.Events = millionEvents(keys * each)
	b.ReportAllocs()
	for b.Loop() {
		Judge(in)
	}
	b.ReportMetric(float64(keys*each*b.N)/b.Elapsed().Seconds(), "attempts/s")
}

func millionEvents(n int64) iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		for i := range n {
			a := told[contract.AnswerReplay]
			if i%10 == 0 {
				a = told[contract.AnswerFresh]
			}
			a.Op, a.N, a.SentNS, a.DoneNS, a.Outcome = i+1, 1, i*1000, i*1000+int64(time.Millisecond), history.Returned
			if !yield(history.Event{Attempt: &a}, nil) {
				return
			}
		}
	}
}

// BenchmarkRulesAlone applies the state machine's rules to 100,000 keys of eleven attempts that are in memory: one executes, one met it in flight, the
// others are replays.
func BenchmarkRulesAlone(b *testing.B) {
	s := newStory()
	s.ask(s.order(k1, "a"), 0, 5, contract.AnswerFresh)
	s.ask(s.order(k1, "a"), 2, 4, contract.AnswerInFlight)
	for i := int64(1); i < 10; i++ {
		s.ask(s.order(k1, "a"), 5*i, 5*i+3, contract.AnswerReplay)
	}
	s.execute(1)
	s.record(1, "completed")
	const keys = 100_000
	lives := make([]life, keys)
	one := lifeIn(s)
	for i := range lives { // each with attempts of its own, as in a run
		lives[i] = one
		lives[i].attempts = slices.Clone(one.attempts)
	}
	judged := 0
	b.ReportAllocs()
	for b.Loop() {
		for i := range lives {
			if broken := lives[i].judge(); broken != nil {
				b.Fatalf("a right key is accused: %s", broken.rule)
			}
			judged += len(lives[i].attempts)
		}
	}
	b.ReportMetric(float64(judged)/b.Elapsed().Seconds(), "attempts/s")
}
