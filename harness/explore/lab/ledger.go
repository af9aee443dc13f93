package lab

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// ledger judges what no schedule alone shows: whether, after all of them, every user's money is what their orders say.
func (l *Lab) ledger(ctx context.Context) (out []schedule.Violation, err error) {
	set, err := evidence.Read(ctx, l.dsn, evidence.Bundled())
	if err != nil {
		return nil, err
	}
	set.Opening = l.opening
	v := check.Judge(check.Input{
		Contract: l.contract(), Evidence: set, Limits: check.Limits{CrossKeys: -1},
		Operations: func(func(history.Operation, error) bool) {}, Events: func(func(history.Event, error) bool) {},
	})
	for _, f := range v.Findings {
		if f.Invariant == "money-conserved" && f.Status == verdict.Violated {
			out = append(out, schedule.Violation{Invariant: f.Invariant, Sentence: f.Violations[0].Sentence})
		}
	}
	return out, nil
}
