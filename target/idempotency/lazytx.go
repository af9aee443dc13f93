package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rollbackTime bounds the rollback of a connection that may not answer any more.
const rollbackTime = 500 * time.Millisecond

var errRolledBack = errors.New("the database rolled the transaction back")

// lazyTx takes its connection and begins with the first statement. If that is a QueryRow, BEGIN shares its round trip.
// The isolation level is the connection's default.
type lazyTx struct {
	pool *pgxpool.Pool
	conn *pgxpool.Conn
}

func (t *lazyTx) acquire(ctx context.Context) (err error) {
	t.conn, err = t.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("acquire connection: %w", err)
	}
	return nil
}

func (t *lazyTx) begin(ctx context.Context) error {
	if t.conn != nil {
		return nil
	}
	if err := t.acquire(ctx); err != nil {
		return err
	}
	if _, err := t.conn.Exec(ctx, "begin"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

// Exec implements Tx.
func (t *lazyTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := t.begin(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return t.conn.Exec(ctx, sql, args...)
}

// Query implements Tx.
func (t *lazyTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	return t.conn.Query(ctx, sql, args...)
}

// QueryRow implements Tx.
func (t *lazyTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if t.conn != nil {
		return t.conn.QueryRow(ctx, sql, args...)
	}
	if err := t.acquire(ctx); err != nil {
		return failedRow{err}
	}
	b := &pgx.Batch{}
	b.Queue("begin")
	b.Queue(sql, args...)
	return batchRow{t.conn.SendBatch(ctx, b)}
}

// SendBatch implements Tx.
func (t *lazyTx) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if err := t.begin(ctx); err != nil {
		return failedBatch{err}
	}
	return t.conn.SendBatch(ctx, b)
}

func (t *lazyTx) commit(ctx context.Context) error {
	if t.conn == nil {
		return nil
	}
	tag, err := t.conn.Exec(ctx, "commit")
	t.release()
	switch {
	case err != nil:
		return commitError(err)
	case tag.String() != "COMMIT":
		return errRolledBack
	}
	return nil
}

func (t *lazyTx) rollback() {
	if t.conn == nil {
		return
	}
	if !t.conn.Conn().IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), rollbackTime)
		defer cancel()
		_, _ = t.conn.Exec(ctx, "rollback") // on failure the pool finds the connection unfit and closes it
	}
	t.release()
}

func (t *lazyTx) release() {
	t.conn.Release()
	t.conn = nil
}

// batchRow is the row of a batch's second statement, after BEGIN.
type batchRow struct{ results pgx.BatchResults }

// Scan implements pgx.Row.
func (r batchRow) Scan(dest ...any) error {
	_, beginErr := r.results.Exec()
	scanErr := r.results.QueryRow().Scan(dest...)
	closeErr := r.results.Close()
	switch {
	case beginErr != nil:
		return fmt.Errorf("begin: %w", beginErr)
	case scanErr != nil:
		return scanErr
	}
	return closeErr
}

type failedRow struct{ err error }

// Scan implements pgx.Row.
func (r failedRow) Scan(...any) error { return r.err }

type failedBatch struct{ err error }

func (b failedBatch) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, b.err }
func (b failedBatch) Query() (pgx.Rows, error)         { return nil, b.err }
func (b failedBatch) QueryRow() pgx.Row                { return failedRow(b) }
func (b failedBatch) Close() error                     { return b.err }
func (b failedBatch) Tx() pgx.Tx                       { return nil }

// givenTx is a transaction that the claim strategy began.
type givenTx struct{ pgx.Tx }

func (t givenTx) commit(ctx context.Context) error {
	err := t.Commit(ctx)
	switch {
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return errRolledBack
	case err != nil:
		return commitError(err)
	}
	return nil
}

func (t givenTx) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTime)
	defer cancel()
	_ = t.Rollback(ctx) // after a commit this is a no-op that returns ErrTxClosed
}
