package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Sweeper removes what has expired.
type Sweeper interface {
	// Sweep removes up to limit expired records and returns how many it removed.
	Sweep(ctx context.Context, db DB, limit int) (int64, error)
}

// Eraser removes a user's records inside the transaction that erases the user.
type Eraser interface {
	Erase(ctx context.Context, tx pgx.Tx, userID int32) (int64, error)
}

// ExpirySweeper goes by the database's clock, leaves what is in flight alone, and skips what others hold, so that it is
// safe beside live traffic (contract section 7).
type ExpirySweeper struct{}

const sweepSQL = `
DELETE FROM idempotency_keys
WHERE id IN (
    SELECT id FROM idempotency_keys
    WHERE expires_at < NOW() AND status IN ('completed', 'failed')
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)`

// Sweep implements Sweeper.
func (ExpirySweeper) Sweep(ctx context.Context, db DB, limit int) (int64, error) {
	tag, err := db.Exec(ctx, sweepSQL, limit)
	if err != nil {
		return 0, fmt.Errorf("sweep expired records: %w", err)
	}
	return tag.RowsAffected(), nil
}

// SweepAll repeats sweeps of at most batch records until one finds less, and returns how many records went.
func SweepAll(ctx context.Context, s Sweeper, db DB, batch int) (total int64, err error) {
	for {
		n, err := s.Sweep(ctx, db, batch)
		total += n
		if err != nil || n < int64(batch) {
			return total, err
		}
	}
}

// RecordEraser deletes every record of the user, in flight or not: the fence then stops a worker that is still at it.
type RecordEraser struct{}

const eraseSQL = `DELETE FROM idempotency_keys WHERE scope_user_id = $1`

// Erase implements Eraser.
func (RecordEraser) Erase(ctx context.Context, tx pgx.Tx, userID int32) (int64, error) {
	tag, err := tx.Exec(ctx, eraseSQL, userID)
	if err != nil {
		return 0, fmt.Errorf("erase records of user %d: %w", userID, err)
	}
	return tag.RowsAffected(), nil
}
