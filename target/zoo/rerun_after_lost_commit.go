package zoo

import (
	"context"
	"errors"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var rerunAfterLostCommit = Variant{
	Name:  "rerun-after-lost-commit",
	Class: "ambiguous commit repeated",
	Story: "A helper around every transaction runs it again when the connection breaks, which is right for any error but one: the " +
		"commit may have happened, and only its answer was lost. The second run finds the record completed, as it wants it.",
	Seen: "stroppy-io/stroppy#167: an error of the commit returns into a retry loop, which runs the whole transaction " +
		"again",
	Invariant: "at-most-once",
	Scenario:  "commit-lost",
	Explore:   &Exploration{Faults: []string{"cut-after"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Executor = rerunningExecutor{p.Executor}
		return p
	},
}

// rerunningExecutor takes an unknown outcome for a failure.
type rerunningExecutor struct{ idempotency.Executor }

// Execute implements idempotency.Executor.
func (e rerunningExecutor) Execute(ctx context.Context, a *idempotency.Attempt) (idempotency.Response, error) {
	resp, err := e.Executor.Execute(ctx, a)
	if !errors.Is(err, idempotency.ErrOutcomeUnknown) {
		return resp, err
	}
	again := *a
	again.Completer = unfencedCompleter{a.Completer}
	return e.Executor.Execute(ctx, &again)
}
