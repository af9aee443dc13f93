package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

// Loss is a weakened durability that a scenario states: of what was acknowledged, the last before one fault struck may be gone
// afterwards. The zero value states nothing, and then every acknowledged commit must survive everything.
type Loss struct {
	Fault  int           // the fault's place in the timeline, from 1
	Kind   string        // its kind
	Window time.Duration // what was acknowledged longer than this before the strike is safe
}

func (l Loss) stated() bool { return l.Fault > 0 }

func (l Loss) String() string {
	return fmt.Sprintf("what is acknowledged up to %s before the %s strikes may be lost", l.Window, l.Kind)
}

// Notes about the fault of a Loss, by the fault itself.
const (
	noteSafe   = "commits-safe"   // everything acknowledged by now survives
	noteStruck = "commits-struck" // the database server is about to be killed
)

// cut is what a lossy crash did to time, as the fault recorded it: the database of afterwards is that of some moment in [safe, strike]. Nothing
// commits in [began, over].
type cut struct {
	safe, strike int64 // of the notes; -1 without one
	began, over  int64 // the old database was surely gone, and was surely alone until the end
}

// findCut gives the index its cut, if the scenario states a loss and the fault struck. A strike that reached further back than was stated accuses
// nobody of what it lost beyond, and no run with one ever holds: it is a doubt.
func (ix *index) findCut() {
	l := ix.limits.Loss
	if !l.stated() || ix.cut.safe < 0 || ix.cut.strike < ix.cut.safe {
		ix.cut = cut{safe: -1, strike: -1}
		return
	}
	ix.cut.began, ix.cut.over = forever, forever
	for _, w := range ix.windows {
		if w.id == l.Fault {
			ix.cut.began, ix.cut.over = w.began, w.healing
		}
	}
	if reach := time.Duration(ix.cut.strike - ix.cut.safe); reach > l.Window {
		ix.doubts = append(ix.doubts, fmt.Sprintf("the %s could lose what was acknowledged up to %s before its strike, and %s is stated: the machine was too slow for it",
			l.Kind, reach.Round(time.Millisecond), l.Window))
	}
}

// prove finds the answers from the time of the loss whose executions are there. A crash loses the end of the log and nothing before it: what was
// acknowledged before such a request was even sent is in front of it in the log, and must be there too.
func (ix *index) prove() {
	if !ix.cut.happened() {
		return
	}
	latest := ix.cut.safe
	for _, s := range ix.scopes {
		for i := range s.attempts {
			a := &s.attempts[i]
			a.proven = ix.cut.void(a) && s.executedBy(a)
			if a.proven {
				latest = max(latest, a.sent)
			}
		}
	}
	ix.cut.safe = latest
}

// executedBy says whether the rows show the very execution that the attempt was answered with: an order of its operation, and a record with its
// answer, which no other execution of the key has given.
func (s *scope) executedBy(a *attempt) bool {
	if a.answer() != contract.AnswerFresh || s.key == "" {
		return false
	}
	for i := range s.attempts {
		if b := &s.attempts[i]; b != a && b.answer() == contract.AnswerFresh && b.body == a.body {
			return false
		}
	}
	list := s.orderExecutions()
	return slices.ContainsFunc(list, func(e execution) bool { return e.op == a.op.id }) &&
		slices.ContainsFunc(s.records, func(r *evidence.Record) bool { return r.Body != "" && bodyHash([]byte(r.Body)) == a.body })
}

// happened says whether there is a cut at all.
func (c cut) happened() bool { return c.safe >= 0 }

// void says whether the attempt was answered by the old database at a time from which nothing needs to have survived: after the last safe moment,
// and before another database took over. What is proven to have survived is not void.
func (c cut) void(a *attempt) bool {
	return c.happened() && a.returned() && !a.proven && a.sent < c.began && a.done >= c.safe && a.done <= c.over
}

// divide finds the keys that a stated loss has to explain, and divides each into what was before and what came after. Only a key with an answer
// from the time of the loss is divided, and only when an acknowledged order of it is gone, or when its answers and rows cannot be of one life.
func (ix *index) divide() {
	ix.lives = ix.scopes
	if !ix.cut.happened() {
		return
	}
	ix.lives = nil
	for _, s := range ix.scopes {
		gone := ix.loseOrders(s)
		if !gone && !ix.inexplicable(s) {
			ix.lives = append(ix.lives, s)
			continue
		}
		ix.lives = append(ix.lives, ix.before(s), ix.after(s))
	}
}

// inexplicable says whether a key had answers from the time of the loss, and no single life of its record fits all answers and rows.
func (ix *index) inexplicable(s *scope) bool {
	if s.voided == 0 || !s.undisturbed() || s.route.Tier == contract.TierNone {
		return false
	}
	l := ix.lifeOf(s)
	return l.judge() != nil
}

// before is the key as the old database had it, up to its end. Its rows are gone, but what other systems recorded is not.
func (ix *index) before(s *scope) *scope {
	half := *s
	half.whole, half.gone = s, true
	half.orders, half.audits, half.replays, half.records, half.attempts = nil, nil, nil, nil, nil
	for _, a := range s.attempts {
		switch {
		case a.sent >= ix.cut.began:
		case a.done <= ix.cut.over:
			half.attempts = append(half.attempts, a)
		case a.mayClaim():
			half.attempts = append(half.attempts, a.unknown())
		}
	}
	return &half
}

// after is the key as the new database has it. What was answered while everything was still safe has survived. Of what was answered later, as
// far as it may have written, nobody knows whether it has: as if no answer had come. What only read says nothing about the new database.
func (ix *index) after(s *scope) *scope {
	half := *s
	half.whole, half.attempts = s, nil
	for _, a := range s.attempts {
		switch {
		case !a.void:
			half.attempts = append(half.attempts, a)
		case a.mayClaim():
			half.attempts = append(half.attempts, a.unknown())
		}
	}
	return &half
}

// unknown is the attempt as if its answer had never come.
func (a attempt) unknown() attempt {
	a.out, a.means, a.status, a.body = lost, meaningOf(contract.AnswerUnknown), 0, 0
	return a
}

// owns says whether the operation is of this scope, or of the whole that this is a half of.
func (s *scope) owns(op *operation) bool {
	return op.scope == s || (s.whole != nil && op.scope == s.whole)
}
