package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"
)

// lifeIn is the one key of a story, as both checkers get it.
func lifeIn(s *story) life {
	ix := newIndex(s.input())
	return ix.lifeOf(ix.scopes[0])
}

// String is a life as a table, for a failing test.
func (l *life) String() string {
	text := fmt.Sprintf("executed: %d %v\n", l.executions, l.executed)
	for i := range l.attempts {
		a := &l.attempts[i]
		text += fmt.Sprintf("%4d–%4d operation %d request %x: %s body %x\n",
			a.sent/ms, a.done/ms, a.op.id, a.op.request%256, a.describe(), a.body%256)
	}
	return text
}

const patience = 10 * time.Second

// drawLife makes a random key of an automaton, with or without rows to resolve its unknown outcomes.
func drawLife(t *rapid.T, f flaw, stale time.Duration) life {
	s := newStory()
	drawAutomaton(t, f, stale).tell(s, 4, rapid.Bool().Draw(t, "rows"))
	return lifeIn(s)
}

// compareCheckers fails if the two disagree. Where a claim may have been retired, the rules ask only for what is necessary, so
// there porcupine may see more; it may never see less.
func compareCheckers(t *rapid.T, l life) (convicted bool) {
	broken, result := l.judge(), porcupineSays(&l, patience)
	agreed := (broken == nil) == (result == porcupine.Ok)
	if !agreed && (broken != nil || !l.retirePossible()) {
		t.Fatalf("the rules say %s, porcupine says %s of\n%s", opinion(broken), result, l.String())
	}
	return broken != nil
}

func TestRulesAndPorcupineAcceptEveryRightAutomaton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t, rightAutomaton, rapid.SampledFrom([]time.Duration{storyStale, time.Hour}).Draw(t, "stale"))
		if compareCheckers(t, l) {
			t.Fatalf("both object to\n%s", l.String())
		}
		if result := porcupineSays(&l, patience); result != porcupine.Ok {
			t.Fatalf("porcupine says %s of\n%s", result, l.String())
		}
	})
}

func TestRulesAndPorcupineAgreeOnEveryBrokenAutomaton(t *testing.T) {
	for _, f := range flaws {
		t.Run(string(f), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				stale := rapid.SampledFrom([]time.Duration{storyStale, time.Hour}).Draw(t, "stale")
				compareCheckers(t, drawLife(t, f, stale))
			})
		})
	}
}

// The examples of a generator are the same each time, so this finds each flaw always or never.
func TestEveryFlawIsSeenByTheRules(t *testing.T) {
	for _, f := range flaws {
		t.Run(string(f), func(t *testing.T) {
			lives := rapid.Custom(func(t *rapid.T) life { return drawLife(t, f, storyStale) })
			for seed := range 500 {
				l := lives.Example(seed)
				if l.judge() != nil {
					return
				}
			}
			t.Error("no life of 500 was convicted")
		})
	}
}

// A random answer at a random place is mostly nonsense; both must see the same nonsense.
func TestRulesAndPorcupineAgreeOnAChangedAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t, rightAutomaton, time.Hour)
		a := &l.attempts[rapid.IntRange(0, len(l.attempts)-1).Draw(t, "attempt")]
		b := l.attempts[rapid.IntRange(0, len(l.attempts)-1).Draw(t, "other")]
		if a.returned() && b.returned() {
			a.means, a.status, a.body = b.means, b.status, b.body
		}
		compareCheckers(t, l)
	})
}
