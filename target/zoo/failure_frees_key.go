package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var failureFreesKey = Variant{
	Name:  "failure-frees-key",
	Class: "failure frees the key",
	Story: "A failed request should not cost its client the key, so its record is deleted and the retry starts from the beginning. " +
		"That a request failed does not mean that it did nothing: its effect is there, and comes a second time.",
	Seen: "medusajs/medusa#16292: a capture's row, whose id is its key, is deleted on any failure; a retry after a " +
		"time-out captures twice",
	Invariant: "at-most-once",
	Scenario:  "commit-lost",
	Explore:   &Exploration{Faults: []string{"cut-after"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Completer = freeingCompleter{rows(p)}
		return p
	},
}

// freeingCompleter forgets what failed.
type freeingCompleter struct{ *idempotency.RowCompleter }

const freeSQL = `DELETE FROM idempotency_keys WHERE id = $1`

// Fail implements idempotency.Completer.
func (c freeingCompleter) Fail(ctx context.Context, claim *idempotency.Claim, _ *idempotency.Response) error {
	if _, err := c.Store.Exec(ctx, freeSQL, claim.ID); err != nil {
		return fmt.Errorf("free the key of record %d: %w", claim.ID, err)
	}
	return nil
}
