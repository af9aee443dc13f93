package idempotency

import (
	"context"
	"fmt"
	"time"

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

// ResumingSweeper is a sweeper that can go on where a batch ended. Removed records stay in the index until a vacuum, and each batch that begins
// at the front has to pass by all of them: cleaning up n records so takes n² steps.
type ResumingSweeper interface {
	Sweeper
	// SweepFrom is Sweep for records that expired at from or later. It returns also when the last of those that it removed had expired, from where it
	// removed none. The zero time is before all records.
	SweepFrom(ctx context.Context, db DB, from time.Time, limit int) (n int64, last time.Time, err error)
}

// ExpirySweeper goes by the database's clock, leaves what is in flight alone, and skips what others hold, so that it is
// safe beside live traffic (contract section 7).
type ExpirySweeper struct{}

// sweepSQL has the last batch's moment among its own: others may have expired at the very same.
const sweepSQL = `
WITH due AS (
    SELECT id, expires_at FROM idempotency_keys
    WHERE expires_at >= $1 AND expires_at < NOW() AND status IN ('completed', 'failed')
    ORDER BY expires_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM idempotency_keys USING due WHERE idempotency_keys.id = due.id RETURNING due.expires_at
)
SELECT count(*), COALESCE(max(expires_at), $1) FROM gone`

// Sweep implements Sweeper.
func (s ExpirySweeper) Sweep(ctx context.Context, db DB, limit int) (int64, error) {
	n, _, err := s.SweepFrom(ctx, db, time.Time{}, limit)
	return n, err
}

// SweepFrom implements ResumingSweeper.
func (ExpirySweeper) SweepFrom(ctx context.Context, db DB, from time.Time, limit int) (n int64, last time.Time, err error) {
	if err := db.QueryRow(ctx, sweepSQL, from, limit).Scan(&n, &last); err != nil {
		return 0, from, fmt.Errorf("sweep expired records: %w", err)
	}
	return n, last, nil
}

const (
	// restFor is how many times as long as a batch took a sweep rests before the next: it has the database for a tenth of the time at most, and for
	// less of it where that is busy.
	restFor = 9
	// longestRest bounds what one slow batch costs.
	longestRest = time.Second
)

// SweepAll repeats sweeps of at most batch records until one finds less, and returns how many records went. It rests between them, in
// proportion to what they took, so that those who wait behind a batch have had their turn before the next one. When ctx ends while it rests
// it returns ctx's error.
func SweepAll(ctx context.Context, s Sweeper, db DB, batch int) (total int64, err error) {
	for next := batches(s); ; {
		begun := time.Now()
		n, err := next(ctx, db, batch)
		total += n
		if err != nil || n < int64(batch) {
			return total, err
		}
		if err := rest(ctx, time.Since(begun)); err != nil {
			return total, fmt.Errorf("sweep called off between two batches: %w", err)
		}
	}
}

// batches are those of one sweep, each from where the last one ended if the sweeper can do that.
func batches(s Sweeper) func(context.Context, DB, int) (int64, error) {
	resuming, ok := s.(ResumingSweeper)
	if !ok {
		return s.Sweep
	}
	var from time.Time
	return func(ctx context.Context, db DB, limit int) (n int64, err error) {
		n, from, err = resuming.SweepFrom(ctx, db, from, limit)
		return n, err
	}
}

func rest(ctx context.Context, took time.Duration) error {
	timer := time.NewTimer(min(restFor*took, longestRest))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
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
