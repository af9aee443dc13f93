package zoo

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// What variants share whose mistake is a few words of SQL: the reference's statements with these words changed.

// alteredClaimer is the reference on an altered store.
type alteredClaimer struct{ *idempotency.InsertClaimer }

// altered says other words where the reference's query has from.
type altered struct {
	idempotency.DB
	from, to string
}

func alter(p idempotency.Parts, from, to string) alteredClaimer {
	c := *reference(p)
	c.Store = altered{DB: c.Store, from: from, to: to}
	return alteredClaimer{&c}
}

// QueryRow implements idempotency.DB.
func (a altered) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return a.DB.QueryRow(ctx, strings.Replace(sql, a.from, a.to, 1), args...)
}

// The conditions by which the reference finds a record.
const (
	sameKey      = `idem_key = $1`
	sameUser     = `scope_user_id IS NOT DISTINCT FROM $2`
	sameEndpoint = `scope_endpoint = $3`
)

// lockTableSQL lets replicas that start together prepare one after the other.
const lockTableSQL = `LOCK TABLE idempotency_keys; `

// prepare is the Prepare of variants that need another schema. The statements must bear repetition.
func prepare(sql string) func(context.Context, *pgxpool.Pool) error {
	return func(ctx context.Context, db *pgxpool.Pool) error {
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, lockTableSQL+sql)
			return err
		})
		if err != nil {
			return fmt.Errorf("change the schema: %w", err)
		}
		return nil
	}
}
