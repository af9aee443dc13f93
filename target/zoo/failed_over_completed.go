package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var failedOverCompleted = Variant{
	Name:  "failed-over-completed",
	Class: "ambiguous commit taken for a failure",
	Story: "Every error of the action ends in the same place, which writes \"failed\" into the record. An error from the commit " +
		"ends there too, also when the commit has happened and only its answer was lost: the order is there, and its client is told to try anew.",
	Seen: "redpanda-data/redpanda#3501: a commit whose acknowledgement was lost is reported as failed, although it " +
		"took effect",
	Invariant: "legal-transitions",
	Scenario:  "commit-lost",
	Explore:   &Exploration{Faults: []string{"cut-after"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Completer = blindCompleter{rows(p)}
		return p
	},
}

// rows is the completer that a variant changes. Parts start from idempotency.Reference, always.
func rows(p idempotency.Parts) *idempotency.RowCompleter {
	return p.Completer.(*idempotency.RowCompleter)
}

// blindCompleter does not look at what it writes over.
type blindCompleter struct{ *idempotency.RowCompleter }

const failByIDSQL = `UPDATE idempotency_keys SET status = 'failed', response_code = $2 WHERE id = $1`

// Fail implements idempotency.Completer.
func (c blindCompleter) Fail(ctx context.Context, claim *idempotency.Claim, resp *idempotency.Response) error {
	if _, err := c.Store.Exec(ctx, failByIDSQL, claim.ID, resp.Status); err != nil {
		return fmt.Errorf("mark record %d failed: %w", claim.ID, err)
	}
	return nil
}
