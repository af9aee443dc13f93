package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// fillSQL makes the records of a day of steady traffic, in the order in which they came; a tenth of them live for a week. $1 is how many are
	// live, $2 how many have expired: those lie among the week's, and are at most a few hours beyond their time, as when a cleanup is due.
	fillSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, response_code, response_body, status, created_at, locked_at, expires_at)
SELECT gen_random_uuid()::text, 1 + n % 2000, CASE WHEN weekly THEN 'POST /api/billing/checkout' ELSE 'POST /api/trading/orders' END,
       encode(sha256(int8send(n)), 'hex'), CASE WHEN failed THEN 402 ELSE 201 END,
       CASE WHEN NOT failed THEN jsonb_build_object('order_id', n, 'execution_id', gen_random_uuid(), 'status', 'filled', 'symbol', 'AAPL',
                                                    'side', 'buy', 'quantity', 1, 'price', '123.45', 'cash_balance', '999876.55') END,
       CASE WHEN failed THEN 'failed' ELSE 'completed' END, at, at, at + CASE WHEN weekly THEN interval '7 days' ELSE interval '1 day' END
FROM (SELECT n, n % 10 = 0 AS weekly, n % 33 = 0 AS failed,
             NOW() - interval '1 day' + (n - $2::bigint * 10 / 9) * (interval '1 day' / ($1::bigint - $2::bigint / 9)) AS at
      FROM generate_series(1, $1::bigint + $2::bigint) n) made`

	// Keys are looked up and checked when the rows are there: row by row that takes hours.
	constraintsSQL = `
SELECT format('ALTER TABLE idempotency_keys DROP CONSTRAINT %I', conname),
       format('ALTER TABLE idempotency_keys ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid))
FROM pg_constraint WHERE conrelid = 'idempotency_keys'::regclass AND contype IN ('p', 'u', 'f')`
	indexesSQL = `
SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
FROM pg_index i WHERE indrelid = 'idempotency_keys'::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`

	countsSQL = `
SELECT count(*), count(*) FILTER (WHERE expires_at < NOW()), pg_table_size('idempotency_keys') / 1e9, pg_indexes_size('idempotency_keys') / 1e9
FROM idempotency_keys`

	// writeLogSQL leaves files of the write-ahead log for the measurements to write into: making a new one takes the disk for a tenth of a second.
	writeLogSQL = `SELECT count(pg_logical_emit_message(false, 'bench', repeat('x', 1000000))) FROM generate_series(1, 2000)`
)

// fill makes the full table: without its indexes and keys, which are made again afterwards as the migrations had made them.
func (r *retention) fill(ctx context.Context) error {
	begun := time.Now()
	constraints, err := r.full.pairs(ctx, constraintsSQL)
	if err != nil {
		return err
	}
	indexes, err := r.full.pairs(ctx, indexesSQL)
	if err != nil {
		return err
	}
	all := append(constraints, indexes...)
	for _, p := range all {
		if err := r.full.do(ctx, p.drop); err != nil {
			return err
		}
	}
	if err := r.insert(ctx); err != nil {
		return err
	}
	for _, p := range all {
		if err := r.full.do(ctx, p.create); err != nil {
			return err
		}
	}
	if err := r.full.do(ctx, `VACUUM (ANALYZE) idempotency_keys`, writeLogSQL, checkpoint, checkpoint); err != nil {
		return err
	}
	return r.filled(ctx, time.Since(begun))
}

// insert empties the table in the transaction that fills it: what nobody else has seen needs no log.
func (r *retention) insert(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, r.full.admin, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, forgetKeys); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fillSQL, r.rows, r.expired)
		return err
	})
	if err != nil {
		return fmt.Errorf("fill the table: %w", err)
	}
	return nil
}

func (r *retention) filled(ctx context.Context, took time.Duration) error {
	var total, expired int64
	var table, indexes float64
	if err := r.full.admin.QueryRow(ctx, countsSQL).Scan(&total, &expired, &table, &indexes); err != nil {
		return fmt.Errorf("count the records: %w", err)
	}
	fmt.Printf("%d records, %d of them expired, made in %v: %.1f GB and %.1f GB of indexes\n", total, expired, took.Round(time.Second), table, indexes)
	return nil
}

// pair is how something is dropped and made again.
type pair struct{ drop, create string }

func (d *database) pairs(ctx context.Context, sql string) ([]pair, error) {
	rows, err := d.admin.Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("read what the table has: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p pair, err error) {
		err = row.Scan(&p.drop, &p.create)
		return p, err
	})
}
