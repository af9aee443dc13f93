package idempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrFenced says that the claim was no longer ours when the business transaction wanted to commit.
var ErrFenced = errors.New("the claim was lost before the commit")

// Completer writes how a claim ended.
type Completer interface {
	// Complete queues the completion into the business transaction. Its callback must fail, by ErrFenced, when the
	// claim is not ours any more.
	Complete(b *pgx.Batch, claim *Claim, req *Request, resp *Response)
	// Fail marks the record failed, unless it is no longer in flight.
	Fail(ctx context.Context, claim *Claim, resp *Response) error
}

// RowCompleter updates the claimed row under the fence of its id and locked_at (contract section 6.2).
type RowCompleter struct {
	Store DB
}

const completeSQL = `
UPDATE idempotency_keys SET status = 'completed', response_code = $3, response_body = $4
WHERE id = $1 AND locked_at = $2 AND status = 'in_flight'`

// Complete implements Completer.
func (c *RowCompleter) Complete(b *pgx.Batch, claim *Claim, req *Request, resp *Response) {
	b.Queue(completeSQL, claim.ID, claim.LockedAt, resp.Status, StoredBody(req, resp)).
		Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() != 1 {
				return ErrFenced
			}
			return nil
		})
}

const failSQL = `
UPDATE idempotency_keys SET status = 'failed', response_code = $3
WHERE id = $1 AND locked_at = $2 AND status = 'in_flight'`

// Fail implements Completer. After an ambiguous commit it waits for the row, which the business transaction holds until
// it is decided, and then changes it only if that was a rollback.
func (c *RowCompleter) Fail(ctx context.Context, claim *Claim, resp *Response) error {
	err := again(ctx, func() error {
		_, err := c.Store.Exec(ctx, failSQL, claim.ID, claim.LockedAt, resp.Status)
		return err
	})
	if err != nil {
		return fmt.Errorf("mark record %d failed: %w", claim.ID, err)
	}
	return nil
}

// StoredBody is what of an answer may be stored, nil for none: not personal data (NoReplay), not what looks like a
// credential, not what JSONB cannot hold (contract section 7).
func StoredBody(req *Request, resp *Response) any {
	if req.Route.NoReplay || len(resp.Body) == 0 || !storable(resp.Body) {
		return nil
	}
	return string(resp.Body)
}

// suspicious are parts of names and values that mark a credential, in lower case; \u0000 is what JSONB refuses.
var suspicious = [][]byte{
	[]byte("token"), []byte("password"), []byte("passwd"), []byte("secret"), []byte("credential"), []byte("authorization"),
	[]byte("api_key"), []byte("apikey"), []byte("private_key"), []byte("bearer "), []byte("cookie"), []byte(`\u0000`),
}

// storable is deliberately coarse: a body withheld by mistake costs a replay its details, a stored credential more.
func storable(body []byte) bool {
	lower := bytes.ToLower(body)
	for _, word := range suspicious {
		if bytes.Contains(lower, word) {
			return false
		}
	}
	return true
}
