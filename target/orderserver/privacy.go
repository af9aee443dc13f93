package orderserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// The cascade from users takes sessions, account, positions and records with it.
const (
	lockAccountSQL = `SELECT 1 FROM accounts WHERE user_id = $1 FOR UPDATE`
	deleteUserSQL  = `DELETE FROM users WHERE id = $1`
	eraseTries     = 5
)

// Erase deletes a user with sessions, account, positions and records, and returns how many records that were. Orders and
// audit rows stay: they are the ledger, and name nobody but a number. As the user is gone, no record can come back:
// a claim that is already on its way fails at its foreign key.
func Erase(ctx context.Context, pool *pgxpool.Pool, eraser idempotency.Eraser, userID int32) (n int64, err error) {
	for range eraseTries {
		n = 0
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
			n, err = eraseUser(ctx, tx, eraser, userID)
			return err
		})
		if !idempotency.IsSerializationFailure(err) {
			break
		}
	}
	if err != nil {
		return 0, fmt.Errorf("erase user %d: %w", userID, err)
	}
	return n, nil
}

// eraseUser locks the account first, as orders do, so that it waits for an order in progress instead of meeting it.
func eraseUser(ctx context.Context, tx pgx.Tx, eraser idempotency.Eraser, userID int32) (int64, error) {
	if _, err := tx.Exec(ctx, lockAccountSQL, userID); err != nil {
		return 0, fmt.Errorf("lock account: %w", err)
	}
	n, err := eraser.Erase(ctx, tx, userID)
	if err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, deleteUserSQL, userID); err != nil {
		return 0, fmt.Errorf("delete user: %w", err)
	}
	return n, nil
}

// ExportedRecord is one record as its user may see and take it (access, portability).
type ExportedRecord struct {
	Key          string          `json:"idempotency_key"`
	Endpoint     string          `json:"endpoint"`
	RequestHash  string          `json:"request_hash"`
	Status       string          `json:"status"`
	ResponseCode *int            `json:"response_code"`
	ResponseBody json.RawMessage `json:"response_body"`
	CreatedAt    time.Time       `json:"created_at"`
	ExpiresAt    time.Time       `json:"expires_at"`
}

// exportSQL is in the order in which the user sent the keys.
const exportSQL = `
SELECT idem_key, scope_endpoint, request_hash, status, response_code, COALESCE(response_body, 'null'), created_at, expires_at
FROM idempotency_keys WHERE scope_user_id = $1 ORDER BY id`

// Export returns a user's records, oldest first; never nil.
func Export(ctx context.Context, pool *pgxpool.Pool, userID int32) ([]ExportedRecord, error) {
	rows, err := pool.Query(ctx, exportSQL, userID)
	if err != nil {
		return nil, fmt.Errorf("export user %d: %w", userID, err)
	}
	records, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ExportedRecord])
	if err != nil {
		return nil, fmt.Errorf("export user %d: %w", userID, err)
	}
	return records, nil
}
