package zoo

import (
	"context"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var stampedeAtExpiry = Variant{
	Name:  "stampede-at-expiry",
	Class: "stampede at expiry",
	Story: "Duplicates wait for the first request's answer, until its claim has expired: then the first one is dead, and the " +
		"waiting request takes its place. All that wait see it at the same time, and all take the place.",
	Seen:      "flyingsquirrel0419/layercache#65: when the leader failed, every waiter that timed out did the work, instead of one",
	Invariant: "at-most-once",
	Scenario:  "stale-heal",
	Explore:   &Exploration{Case: "stale"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = waitingClaimer{reference(p)}
		return p
	},
}

// waitingClaimer polls a live claim and does not claim in its place when it is over.
type waitingClaimer struct{ *idempotency.InsertClaimer }

const pollEvery = 10 * time.Millisecond

// Claim implements idempotency.Claimer.
func (c waitingClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, err := c.InsertClaimer.Claim(ctx, req)
	if err != nil || claim != nil {
		return claim, err
	}
	expired, err := c.awaitEnd(ctx, req)
	if err != nil || !expired {
		return nil, err
	}
	return unfenced(c.InsertClaimer, req), nil
}

const (
	live    = "live"
	expired = "expired"

	stateSQL = `
SELECT COALESCE(MAX(CASE WHEN NOW() - locked_at > $5::interval THEN 'expired' ELSE 'live' END), 'over')
FROM idempotency_keys
WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3 AND request_hash = $4
  AND status = 'in_flight'`
)

// awaitEnd reports whether the claim expired. It leaves time for an answer, whatever that is.
func (c waitingClaimer) awaitEnd(ctx context.Context, req *idempotency.Request) (bool, error) {
	deadline, _ := ctx.Deadline()
	enough := time.Now().Add(time.Until(deadline) / 2)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		var state string
		err := c.Store.QueryRow(ctx, stateSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, c.StaleAfter).Scan(&state)
		if err != nil {
			return false, fmt.Errorf("poll claim: %w", err)
		}
		if state != live || time.Now().After(enough) {
			return state == expired, nil
		}
		<-tick.C
	}
}
