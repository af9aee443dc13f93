package check

import (
	"iter"
	"slices"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// quoteBodies puts the answers' bodies into the counterexamples of replay-fidelity. The index keeps only their hashes, so the few
// that are wanted are read again; a run without such a counterexample costs nothing.
func quoteBodies(events iter.Seq2[history.Event, error], findings []verdict.Finding) {
	i := slices.IndexFunc(findings, func(f verdict.Finding) bool { return f.Invariant == replayFidelity.ID })
	if i < 0 || len(findings[i].Violations) == 0 {
		return
	}
	wanted := map[history.Ref]quotation{}
	for _, v := range findings[i].Violations {
		for _, ref := range v.Ops {
			wanted[ref] = quotation{}
		}
	}
	for e := range events {
		if e.Attempt == nil {
			continue
		}
		ref := history.Ref{Op: e.Attempt.Op, N: e.Attempt.N}
		if _, ok := wanted[ref]; ok {
			wanted[ref] = quotation{body: shorten(string(e.Attempt.Body)), replay: e.Attempt.Marked}
		}
	}
	for n := range findings[i].Violations {
		quote(&findings[i].Violations[n], wanted)
	}
}

// quotation is the body of one answer.
type quotation struct {
	body   string
	replay bool
}

// quote fills one counterexample. With two attempts the original is the one that is no replay; of two replays the first sent.
func quote(v *verdict.Violation, bodies map[history.Ref]quotation) {
	first, last := bodies[v.Ops[0]], bodies[v.Ops[len(v.Ops)-1]]
	if first.replay && !last.replay {
		first, last = last, first
	}
	if len(v.Ops) > 1 {
		v.Expected += " " + first.body
	}
	v.Seen += " " + last.body
}
