package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultStaleAfter is how long a claim may be in flight before it counts as abandoned (contract section 4).
const DefaultStaleAfter = 30 * time.Second

// ErrScopeGone says that the user of the scope does not exist any more.
var ErrScopeGone = errors.New("the user of this scope is gone")

// Claim is a won right to execute. ID and LockedAt together are the fence.
type Claim struct {
	ID       int64
	LockedAt time.Time
	// Completer ends this claim in place of Parts.Completer. For strategies whose claim is not a row. Optional.
	Completer Completer
	// Tx is the transaction that the strategy holds its claim in; action and completion then run in it. Optional.
	Tx pgx.Tx
	// Release is called when the request is over, whatever came of it. Optional.
	Release func()
}

// Status is the state of a record.
type Status string

// The states of contract section 2.
const (
	InFlight  Status = "in_flight"
	Completed Status = "completed"
	Failed    Status = "failed"
)

// Record is a row of idempotency_keys as a loser reads it. Age is judged by the database's clock.
type Record struct {
	ID       int64
	Hash     string
	Status   Status
	Code     int
	Body     []byte
	LockedAt time.Time
	// Stale: in flight for longer than the threshold. Expired: final, and past its time.
	Stale, Expired bool
}

// Claimer decides who executes, and reads the record for everyone else.
type Claimer interface {
	// Claim returns nil without an error when another request holds the key, and ErrHeld when that one's record may not be to
	// be seen yet.
	Claim(ctx context.Context, req *Request) (*Claim, error)
	// Read returns the record of the request's key and scope, nil when there is none. If it is a completed one that
	// will be replayed, it writes the replay's audit row in the same statement, unless audit is nil.
	Read(ctx context.Context, req *Request, audit Auditor) (*Record, error)
	// Retire removes a stale record, so that the next attempt may claim; true for the one caller that did it.
	Retire(ctx context.Context, rec *Record) (bool, error)
	// Discard removes an expired record, so that its key may be claimed afresh.
	Discard(ctx context.Context, rec *Record) error
	// Reclaim takes over a completed record without a stored answer, for routes with NoReplay; nil when it is lost.
	Reclaim(ctx context.Context, rec *Record) (*Claim, error)
}

// ReadingClaimer is a claimer that learns on the way what a loser has to know.
type ReadingClaimer interface {
	Claimer
	// ClaimOrRead is Claim, and Read for who has lost. With neither a claim nor a record the record has to be read.
	ClaimOrRead(ctx context.Context, req *Request, audit Auditor) (*Claim, *Record, error)
}

// InsertClaimer is the contract's claimer: one autocommitted insert decides, losers never wait for the winner's handler.
type InsertClaimer struct {
	Store      DB
	StaleAfter time.Duration
}

// DB is what the parts need of a pool. *pgxpool.Pool has it.
type DB = Tx

const claimSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
VALUES ($1, $2, $3, $4, NOW() + $5::interval)
ON CONFLICT DO NOTHING
RETURNING id, locked_at`

// Claim implements Claimer.
func (c *InsertClaimer) Claim(ctx context.Context, req *Request) (*Claim, error) {
	var claim Claim
	err := again(ctx, func() error {
		return c.Store.QueryRow(ctx, claimSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL).
			Scan(&claim.ID, &claim.LockedAt)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case hasCode(err, "23503"):
		return nil, ErrScopeGone
	case err != nil:
		return nil, fmt.Errorf("claim key: %w", err)
	}
	return &claim, nil
}

// readSQL is one snapshot: what is audited as a replay is what is replayed. The auditor's statement goes in between.
const (
	foundSQL = `
    SELECT id, idem_key, scope_user_id, scope_endpoint, request_hash, status, response_code, response_body, locked_at,
           status = 'in_flight' AND NOW() - locked_at > $4::interval AS stale,
           status <> 'in_flight' AND expires_at < NOW() AS expired,
           $5::boolean AND status = 'completed' AND request_hash = $6 AND expires_at >= NOW() AS replay,
           $7::text AS operation_id
    FROM idempotency_keys
    WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3`
	onlyFoundSQL = `
    ORDER BY id
    LIMIT 1
)`
	readSQL = `
WITH found AS (` + foundSQL + onlyFoundSQL
	readTailSQL = `
SELECT id, request_hash, status, COALESCE(response_code, 0), response_body::text, locked_at, stale, expired FROM found`
)

// Read implements Claimer.
func (c *InsertClaimer) Read(ctx context.Context, req *Request, audit Auditor) (rec *Record, err error) {
	sql := readSQL + readTailSQL
	if audit != nil && audit.ReplaySQL() != "" {
		sql = readSQL + ", audited AS (" + audit.ReplaySQL() + ")" + readTailSQL
	}
	err = again(ctx, func() error {
		rec, err = c.read(ctx, req, sql)
		return err
	})
	return rec, err
}

func (c *InsertClaimer) read(ctx context.Context, req *Request, sql string) (*Record, error) {
	var (
		rec  Record
		body *string
	)
	err := c.Store.QueryRow(ctx, sql, req.Key, req.Scope.UserID, req.Scope.Endpoint, c.StaleAfter,
		!req.Route.NoReplay, req.Hash, req.OperationOrNil()).
		Scan(&rec.ID, &rec.Hash, &rec.Status, &rec.Code, &body, &rec.LockedAt, &rec.Stale, &rec.Expired)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read record: %w", err)
	}
	if body != nil {
		rec.Body = []byte(*body)
	}
	return &rec, nil
}

// retireSQL deletes: the unique constraint then lets the next claim in, under an id that the old worker's fence cannot
// match. A completion that is about to commit holds the row, and is waited for.
const retireSQL = `
DELETE FROM idempotency_keys
WHERE id = $1 AND locked_at = $2 AND status = 'in_flight' AND NOW() - locked_at > $3::interval`

// Retire implements Claimer.
func (c *InsertClaimer) Retire(ctx context.Context, rec *Record) (bool, error) {
	tag, err := c.Store.Exec(ctx, retireSQL, rec.ID, rec.LockedAt, c.StaleAfter)
	switch {
	case IsSerializationFailure(err):
		return false, nil // somebody else has just changed or removed it
	case err != nil:
		return false, fmt.Errorf("retire record %d: %w", rec.ID, err)
	}
	return tag.RowsAffected() == 1, nil
}

const discardSQL = `DELETE FROM idempotency_keys WHERE id = $1 AND status <> 'in_flight' AND expires_at < NOW()`

// Discard implements Claimer.
func (c *InsertClaimer) Discard(ctx context.Context, rec *Record) error {
	if _, err := c.Store.Exec(ctx, discardSQL, rec.ID); err != nil && !IsSerializationFailure(err) {
		return fmt.Errorf("discard record %d: %w", rec.ID, err)
	}
	return nil
}

const reclaimSQL = `
UPDATE idempotency_keys
SET status = 'in_flight', response_code = NULL, locked_at = clock_timestamp()
WHERE id = $1 AND locked_at = $2 AND status = 'completed' AND response_body IS NULL AND expires_at >= NOW()
RETURNING id, locked_at`

// Reclaim implements Claimer.
func (c *InsertClaimer) Reclaim(ctx context.Context, rec *Record) (*Claim, error) {
	var claim Claim
	err := c.Store.QueryRow(ctx, reclaimSQL, rec.ID, rec.LockedAt).Scan(&claim.ID, &claim.LockedAt)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || IsSerializationFailure(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reclaim record %d: %w", rec.ID, err)
	}
	return &claim, nil
}

// IsSerializationFailure reports whether the database rolled a transaction back because of its rivals: 40001, 40P01.
func IsSerializationFailure(err error) bool {
	return hasCode(err, "40001") || hasCode(err, "40P01")
}

func hasCode(err error, code string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Code == code
}
