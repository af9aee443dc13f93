package check

import (
	"bytes"
	"slices"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// casesOf are the operations behind the counterexamples, in the order of their ids. They are few, and read again; a run without counterexamples
// costs nothing.
func casesOf(in Input, v verdict.Verdict) (list []verdict.Case) {
	wanted := wantedCases(v)
	if len(wanted) == 0 {
		return nil
	}
	for o, err := range in.Operations {
		if err != nil {
			break
		}
		if c := wanted[o.ID]; c != nil {
			o.Keys, o.Body = slices.Clone(o.Keys), bytes.Clone(o.Body)
			c.Operation = o
		}
	}
	for e := range in.Events {
		if e.Attempt != nil && wanted[e.Attempt.Op] != nil {
			addCase(wanted[e.Attempt.Op], in.Contract, *e.Attempt)
		}
	}
	for _, c := range wanted {
		if c.Operation.ID != 0 {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b verdict.Case) int { return compare(a.Operation.ID, b.Operation.ID) })
	return list
}

func wantedCases(v verdict.Verdict) map[int64]*verdict.Case {
	wanted := map[int64]*verdict.Case{}
	for _, f := range v.Findings {
		for _, violation := range f.Violations {
			for _, ref := range violation.Ops {
				wanted[ref.Op] = &verdict.Case{}
			}
		}
	}
	return wanted
}

func addCase(c *verdict.Case, by contract.Contract, a history.Attempt) {
	answer := contract.AnswerUnknown
	if a.Outcome == history.Returned {
		answer = by.Classify(a.Status, a.Marked, a.Body)
	}
	a.Body = bytes.Clone(a.Body)
	c.Attempts = append(c.Attempts, a)
	c.Answers = append(c.Answers, string(answer))
}
