package zoo

import (
	"context"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var sessionLockThroughPool = Variant{
	Name:  "session-lock-through-pool",
	Class: "session state through a pool",
	Story: "An advisory lock of the session guards the key, taken and released through the connection pool. The duplicate may " +
		"be handed the very connection that holds the lock, which then lets it in again; the unlock may go to another one, and unlocks nothing.",
	Seen:      "heroku/pg_lock#2: through a pool two holders can get the same session lock, since it is re-entrant on one connection",
	Invariant: "at-most-once",
	Scenario:  "small-pool",
	Explore:   &Exploration{Case: "duplicates", Shared: true, Preemptions: 2},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = sessionLockClaimer{reference(p)}
		return p
	},
}

// sessionLockClaimer forgets that a session is a connection.
type sessionLockClaimer struct{ *idempotency.InsertClaimer }

const (
	tryLockSQL = `SELECT pg_try_advisory_lock(hashtextextended($1, 0))`
	unlockSQL  = `SELECT pg_advisory_unlock(hashtextextended($1, 0))`
)

// Claim implements idempotency.Claimer.
func (c sessionLockClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	name := lockName(req)
	var locked bool
	if err := c.Store.QueryRow(ctx, tryLockSQL, name).Scan(&locked); err != nil {
		return nil, fmt.Errorf("take advisory lock: %w", err)
	}
	if !locked {
		return nil, nil
	}
	taken, err := look(ctx, c.Store, req)
	if err != nil || taken {
		c.unlock(ctx, name)
		return nil, err
	}
	claim := unfenced(c.InsertClaimer, req)
	claim.Release = func() { c.unlock(ctx, name) }
	return claim, nil
}

// unlockTime is a whole request's: an unlock that is given up leaves the key locked for good.
const unlockTime = 2 * time.Second

func (c sessionLockClaimer) unlock(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime)
	defer cancel()
	_, _ = c.Store.Exec(ctx, unlockSQL, name) // the answer, false on another connection, is not looked at
}
