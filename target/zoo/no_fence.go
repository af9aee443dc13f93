package zoo

import (
	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var noFence = Variant{
	Name:  "no-fence",
	Class: "reclaim without a fence",
	Story: "A claim that is too old is given to the next request, and its first holder is taken for dead. It was only paused: " +
		"it goes on, completes by the id alone, does not look whether a row was there, and commits a second time.",
	Seen:      "brendanlong/lion-reader#917: a stalled worker whose job had been reclaimed took it back and wrote over the new owner",
	Invariant: "zombie-fenced",
	Scenario:  "zombie-worker",
	Explore:   &Exploration{Case: "stalled"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Completer = unfencedCompleter{p.Completer}
		return p
	},
}

// unfencedCompleter completes whether the claim is still there or not.
type unfencedCompleter struct{ idempotency.Completer }

const completeByIDSQL = `UPDATE idempotency_keys SET status = 'completed', response_code = $2, response_body = $3 WHERE id = $1`

// Complete implements idempotency.Completer.
func (unfencedCompleter) Complete(b *pgx.Batch, claim *idempotency.Claim, req *idempotency.Request, resp *idempotency.Response) {
	b.Queue(completeByIDSQL, claim.ID, resp.Status, idempotency.StoredBody(req, resp))
}
