package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var flagFlipEmptiesTable = Variant{
	Name:  "flag-flip-empties-table",
	Class: "records do not outlive the switch",
	Story: "What runs while the middleware is off leaves no record, so the table cannot be trusted when it is on again, and is " +
		"emptied. A key that was completed before the switch is fresh after it.",
	Seen:      "infinitypaul/idempotency-laravel#8: clearing the application's cache removed the stored responses",
	Invariant: "at-most-once",
	Scenario:  "flag-flip",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Executor = emptyingExecutor{p.Executor, reference(p).Store}
		return p
	},
}

// emptyingExecutor throws the records away when it runs what the middleware should have guarded.
type emptyingExecutor struct {
	idempotency.Executor
	store idempotency.DB
}

const emptySQL = `DELETE FROM idempotency_keys WHERE status <> 'in_flight'`

// Execute implements idempotency.Executor.
func (e emptyingExecutor) Execute(ctx context.Context, a *idempotency.Attempt) (idempotency.Response, error) {
	if switchedOff(a.Request) {
		if _, err := e.store.Exec(ctx, emptySQL); err != nil {
			return idempotency.Response{}, fmt.Errorf("empty the table: %w", err)
		}
	}
	return e.Executor.Execute(ctx, a)
}

// switchedOff says whether the middleware took no key from a request that has one, on a route that takes keys.
func switchedOff(req *idempotency.Request) bool {
	guarded := req.Route.Tier == idempotency.FailClosed || req.Route.Tier == idempotency.FailOpen
	return guarded && req.Key == "" && req.HTTP.Header.Get(idempotency.KeyHeader) != ""
}
