package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var lockKeptAsLongAsRecord = Variant{
	Name:  "lock-kept-as-long-as-record",
	Class: "one lifetime for lock and record",
	Story: "One time to live covers the claim and the stored answer, a day, since answers must be kept that long. A process " +
		"that dies takes its key along for the same day.",
	Seen:      "fullstackhero/dotnet-starter-kit#1333: a reservation lived as long as the stored answer, 24 h, so a crash would block its key for a day",
	Invariant: "recovers",
	Scenario:  "worker-crash",
	Explore:   &Exploration{Faults: []string{"cut-after"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = oneLifetimeClaimer{reference(p)}
		return p
	},
}

// oneLifetimeClaimer takes a claim for abandoned when its record expires.
type oneLifetimeClaimer struct{ *idempotency.InsertClaimer }

// Read implements idempotency.Claimer.
func (c oneLifetimeClaimer) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	long := idempotency.InsertClaimer{Store: c.Store, StaleAfter: max(c.StaleAfter, req.Route.TTL)}
	return long.Read(ctx, req, audit)
}
