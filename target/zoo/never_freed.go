package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var neverFreed = Variant{
	Name:  "never-freed",
	Class: "abandoned claim kept",
	Story: "A record is in flight until its request ends it. Nobody thought of a process that dies in between: its key answers " +
		"\"in flight\" for ever, and the cleanup spares it, as it must.",
	Seen:      "akira-io/laravel-sisp#302: a key whose request died stayed in processing, and every later request was turned away",
	Invariant: "recovers",
	Scenario:  "worker-crash",
	Explore:   &Exploration{Faults: []string{"cut-after"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = patientClaimer{reference(p)}
		return p
	},
}

// patientClaimer takes no claim for abandoned.
type patientClaimer struct{ *idempotency.InsertClaimer }

// Read implements idempotency.Claimer.
func (c patientClaimer) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.InsertClaimer.Read(ctx, req, audit)
	if rec != nil {
		rec.Stale = false
	}
	return rec, err
}
