package zoo

import (
	"context"
	"fmt"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var serverErrorReplayed = Variant{
	Name:  "server-error-replayed",
	Class: "server error stored as the answer",
	Story: "Whatever the handler answers is stored and given again, as the same request must get the same answer. A 503 of a bad " +
		"minute is then the answer for a day, and the client, who is right to go on trying, never learns that the key is lost.",
	Seen:      "LabsCrypt/remitlend#1329: answers of 5xx are stored and given again to whoever retries",
	Invariant: "recovers",
	Scenario:  "handler-failure",
	Explore:   &Exploration{Faults: []string{"cut-before"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Completer = everyAnswerCompleter{rows(p)}
		return p
	},
}

// everyAnswerCompleter takes a server error for an answer like any other.
type everyAnswerCompleter struct{ *idempotency.RowCompleter }

const storeErrorSQL = `
UPDATE idempotency_keys SET status = 'completed', response_code = $3, response_body = $4
WHERE id = $1 AND locked_at = $2 AND status = 'in_flight'`

// Fail implements idempotency.Completer.
func (c everyAnswerCompleter) Fail(ctx context.Context, claim *idempotency.Claim, resp *idempotency.Response) error {
	if resp.Status < http.StatusInternalServerError {
		return c.RowCompleter.Fail(ctx, claim, resp)
	}
	if _, err := c.Store.Exec(ctx, storeErrorSQL, claim.ID, claim.LockedAt, resp.Status, string(resp.Body)); err != nil {
		return fmt.Errorf("store the error of record %d: %w", claim.ID, err)
	}
	return nil
}
