package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var missingRecordIsFresh = Variant{
	Name:  "missing-record-is-fresh",
	Class: "conflict ignored",
	Story: "The insert hits a conflict, and the read that follows finds no record: it was retired or swept in between. No " +
		"record means no earlier request, so this one runs, without a claim, beside whoever claims next.",
	Seen:      "Kinto/kinto#1525: the insert hits a conflict, the read after it finds no row, and the code did not expect that",
	Invariant: "at-most-once",
	Scenario:  "stale-heal",
	Explore:   &Exploration{Case: "stale", Requests: 3},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = optimisticClaimer{reference(p)}
		return p
	},
}

// optimisticClaimer does not claim again when the record it lost to is gone.
type optimisticClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c optimisticClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, err := c.InsertClaimer.Claim(ctx, req)
	if err != nil || claim != nil {
		return claim, err
	}
	found, err := look(ctx, c.Store, req)
	if err != nil || found {
		return nil, err
	}
	return unfenced(c.InsertClaimer, req), nil
}
