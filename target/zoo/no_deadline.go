package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var noDeadline = Variant{
	Name:  "no-deadline",
	Class: "unbounded wait",
	Story: "The claim runs on a context without a deadline. When the network drops the answers, each request keeps its " +
		"connection and waits; the pool is empty soon, and stays so when the network is back.",
	Seen:      "brettwooldridge/HikariCP#337: a query without a time-out waited 90 minutes after a network fault, until a restart",
	Invariant: "recovers",
	Scenario:  "store-outage",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = unboundedClaimer{reference(p)}
		return p
	},
}

// unboundedClaimer waits for ever.
type unboundedClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c unboundedClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	return c.InsertClaimer.Claim(context.WithoutCancel(ctx), req)
}
