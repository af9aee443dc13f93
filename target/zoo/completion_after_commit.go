package zoo

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var completionAfterCommit = Variant{
	Name:  "completion-after-commit",
	Class: "completion apart from the action",
	Story: "The handler has its transaction, and the middleware, which knows nothing of it, stores the answer when the handler " +
		"returns. A process or a connection that dies in between leaves an order whose record says that nothing was done.",
	Seen: "tracking202/prosper202#147: a worker that dies between the commit and the stored response leaves a claim " +
		"whose retry runs again",
	Invariant: "legal-transitions",
	Scenario:  "commit-lost",
	Explore:   &Exploration{Faults: []string{"cut-before"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Executor = twoStepExecutor{p.Executor.(*idempotency.TxExecutor), serverContext}
		return p
	},
}

// twoStepExecutor commits the action, and then the completion. Once the order is placed, a completion that fails is no
// reason to tell the client anything else.
type twoStepExecutor struct {
	*idempotency.TxExecutor
	secondStep func(context.Context, *idempotency.Request) context.Context
}

func serverContext(ctx context.Context, _ *idempotency.Request) context.Context { return ctx }

// Execute implements idempotency.Executor.
func (e twoStepExecutor) Execute(ctx context.Context, a *idempotency.Attempt) (idempotency.Response, error) {
	action := *a
	action.Completer = noCompleter{}
	resp, err := e.TxExecutor.Execute(ctx, &action)
	if err != nil || a.Claim == nil {
		return resp, err
	}
	b := &pgx.Batch{}
	a.Completer.Complete(b, a.Claim, a.Request, &resp)
	_ = e.Pool.SendBatch(e.secondStep(ctx, a.Request), b).Close()
	return resp, nil
}
