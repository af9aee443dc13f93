package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var recordExpiresWithLock = Variant{
	Name:  "record-expires-with-lock",
	Class: "one lifetime for lock and record",
	Story: "One time to live covers the claim and the stored answer, half a minute, since a dead process must not block its key " +
		"for longer. A client that retries after a minute is served as new.",
	Seen:      "zenml-io/kitaru#876: keys are kept for 15 minutes, what request retries need, and any later retry creates everything anew",
	Invariant: "retention",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = shortLifetimeClaimer{reference(p)}
		return p
	},
}

// shortLifetimeClaimer keeps records as long as claims.
type shortLifetimeClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c shortLifetimeClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	route, short := *req.Route, *req
	route.TTL = min(route.TTL, c.StaleAfter)
	short.Route = &route
	return c.InsertClaimer.Claim(ctx, &short)
}
