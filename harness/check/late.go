package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// noteLate is the kind of the notes that say that the machine itself was late, by a witness that the server under test has no part in. A
// note is written at the end of what took too long; its text is how long that was.
const noteLate = "late"

const (
	// lateShare is the share of a bound that a machine must have been late for, all in all, for the bound to prove nothing.
	lateShare = 0.1
	// promptAsks is how many answers in good time show, whatever the machine did elsewhere, that a key had its chance.
	promptAsks = 5
)

// stall is a time in which the machine was late.
type stall struct{ from, to int64 }

func (ix *index) addLate(n *history.Note) {
	if took, err := time.ParseDuration(strings.TrimSpace(n.Text)); err == nil && took > 0 {
		ix.stalls = append(ix.stalls, stall{n.AtNS - int64(took), n.AtNS})
	}
}

// lateWithin sums up how long the machine was late during [from, to].
func (ix *index) lateWithin(from, to int64) (sum time.Duration) {
	for _, s := range ix.stalls {
		sum += time.Duration(max(0, min(s.to, to)-max(s.from, from)))
	}
	return sum
}

// excused says why a key that did not settle within a bound on the clock is no proof against the server: the machine was late for a good part
// of it, and the key was not asked for often and answered promptly all the same. "" is no excuse.
func (ix *index) excused(sc *scope, from, to int64) string {
	late := ix.lateWithin(from, to)
	if float64(late) < lateShare*float64(to-from) || ix.hadItsChance(sc, from, to) {
		return ""
	}
	return fmt.Sprintf("the machine was late for %s of the %s in which keys had to settle, and some did not: run it again on one that is less busy",
		late.Round(time.Millisecond), time.Duration(to-from).Round(time.Millisecond))
}

// hadItsChance says whether the key was asked for over half of the time at least, and each answer came in good time.
func (ix *index) hadItsChance(sc *scope, from, to int64) bool {
	first, last, asks := int64(forever), int64(0), 0
	for i := range sc.attempts {
		a := &sc.attempts[i]
		if a.done <= from || a.sent > to {
			continue
		}
		if !a.returned() || ix.strained(a) {
			return false
		}
		first, last, asks = min(first, a.sent), max(last, a.done), asks+1
	}
	return asks >= promptAsks && last-first >= (to-from)/2
}
