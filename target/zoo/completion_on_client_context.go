package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var completionOnClientContext = Variant{
	Name:  "completion-on-client-context",
	Class: "completion ends with the client",
	Story: "The order is placed on a context of the server's own, so that a client who hangs up does not undo it. The completion " +
		"after it takes the context at hand, the request's: whoever hung up has an order, and a record in flight.",
	Seen: "caura-ai/caura#1629: the record is written on the request's task, which a client's hang-up cancels; the " +
		"replay wrote a second time",
	Invariant: "at-most-once",
	Scenario:  "hang-up",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Executor = twoStepExecutor{p.Executor.(*idempotency.TxExecutor), clientContext}
		return p
	},
}

func clientContext(_ context.Context, req *idempotency.Request) context.Context {
	return req.HTTP.Context()
}
