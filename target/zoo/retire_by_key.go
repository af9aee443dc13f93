package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var retireByKey = Variant{
	Name:  "retire-by-key",
	Class: "expired lock broken twice",
	Story: "Two requests find the same abandoned record, and both delete it by its key. In between a third has claimed the key: " +
		"the second deletion takes the new claim away, a fourth request claims as well, and both run.",
	Seen:      "phpnode/YiiRedis#18: several clients detect an expired lock and all release it",
	Invariant: "at-most-once",
	Scenario:  "stale-heal",
	Explore:   &Exploration{Case: "retried", Preemptions: 2},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = keyRetirer{reference(p)}
		return p
	},
}

// keyRetirer deletes what it read some time ago, whatever is there now.
type keyRetirer struct{ *idempotency.InsertClaimer }

const retireByKeySQL = `
DELETE FROM idempotency_keys
WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3 AND status = 'in_flight'`

// Claim implements idempotency.Claimer.
func (c keyRetirer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, err := c.InsertClaimer.Claim(ctx, req)
	if claim != nil {
		claim.Completer = byKey{store: c.Store, req: req}
	}
	return claim, err
}

// Read implements idempotency.Claimer. It retires as well, since only here the key is known.
func (c keyRetirer) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.InsertClaimer.Read(ctx, req, audit)
	if err != nil || rec == nil || !rec.Stale || rec.Hash != req.Hash {
		return rec, err
	}
	if _, err := c.Store.Exec(ctx, retireByKeySQL, req.Key, req.Scope.UserID, req.Scope.Endpoint); err != nil {
		return nil, fmt.Errorf("retire key: %w", err)
	}
	return rec, nil
}

// Retire implements idempotency.Claimer.
func (keyRetirer) Retire(context.Context, *idempotency.Record) (bool, error) { return true, nil }
