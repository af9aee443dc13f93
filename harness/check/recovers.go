package check

import (
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
)

var recovers = Invariant{
	ID:      "recovers",
	Meaning: "when faults and traffic have ended, every key reaches a final answer within the stated bound",
	Unit:    "keyed operations",
	Whole:   true,
	ByFault: true,
	judge: func(ix *index, s *sheet) {
		from := max(ix.healedNS, ix.driven)
		for _, sc := range ix.scopes {
			if sc.key == "" || len(sc.attempts)+len(sc.cut)+sc.unsent == 0 {
				continue
			}
			ix.judgeSettled(sc, from, s)
		}
	},
}

// fate is how far one operation got.
type fate struct {
	final int64    // when its first final answer came; forever without one
	last  *attempt // its last attempt; nil if none was sent
}

// judgeSettled compares each operation's first final answer with the bound. The clock starts when both faults and planned traffic
// are over: before that a client may have its own reasons not to ask again. A bound on the clock proves nothing on a machine that was late.
func (ix *index) judgeSettled(sc *scope, from int64, s *sheet) {
	for i, f := range ix.fatesOf(sc) {
		op := sc.ops[i]
		if op.firstSent == forever || op.once || (f.last != nil && f.last.answer() == contract.AnswerGated) {
			continue // never begun, or kept out by a gate until the end
		}
		s.lookIn(sc.faults)
		until := from + int64(ix.limits.Recovery)
		switch settled := f.last != nil && f.final <= until; {
		case settled:
		case ix.interrupted:
			s.doubt = "the run was interrupted before the open keys had been asked for their final answers"
		case ix.excused(sc, from, until) != "":
			s.doubt = ix.excused(sc, from, until)
		default:
			s.violateIn(sc.faults, ix.stuck(sc, op, f, from))
		}
	}
}

// fatesOf are the fates of a scope's operations, in their order, until the next call.
func (ix *index) fatesOf(sc *scope) []fate {
	ix.fates = ix.fates[:0]
	for range sc.ops {
		ix.fates = append(ix.fates, fate{final: forever})
	}
	for i := range sc.attempts {
		a := &sc.attempts[i]
		f := &ix.fates[a.op.place]
		f.last = a
		if a.returned() && a.answer().Final() {
			f.final = min(f.final, a.done)
		}
	}
	return ix.fates
}

func (ix *index) stuck(sc *scope, op *operation, f fate, from int64) (v violation) {
	seen := "no answer at all"
	var last *attempt
	switch {
	case f.last != nil && f.final != forever:
		seen = fmt.Sprintf("the final answer after %s", time.Duration(f.final-from).Round(time.Millisecond))
		last = f.last
	case f.last != nil:
		seen = "at last " + f.last.describe()
		last = f.last
	}
	v = sc.violation(fmt.Sprintf("Operation %d of %s never settled in time: %s.", op.id, lowerKey(sc), seen), last)
	v.Expected = fmt.Sprintf("a final answer within %s", ix.limits.Recovery)
	v.Seen = seen
	return v
}

// describe says how an attempt ended.
func (a *attempt) describe() string {
	switch {
	case !a.returned():
		return "no answer (" + string(outcomes[a.out]) + ")"
	case a.answer() == contract.AnswerUnknown:
		return fmt.Sprintf("%d, an answer that the contract does not know", a.status)
	}
	return fmt.Sprintf("%d (%s)", a.status, a.answer())
}

// lowerKey is the scope's name inside a sentence.
func lowerKey(sc *scope) string {
	if sc.key == "" {
		return "a request without a valid key"
	}
	return "k" + sc.String()[1:]
}
