package zoo

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var lockReleasedBeforeCommit = Variant{
	Name:  "lock-released-before-commit",
	Class: "lock shorter than the transaction",
	Story: "The method takes the lock, does its work and releases the lock; the framework commits when the method has " +
		"returned. The duplicate that waited for the lock looks before the commit, and sees nothing.",
	Seen:      "hyperledger-labs/fabric-smart-client#670: an advisory lock was released before commit or rollback",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = earlyReleaseClaimer{reference(p)}
		return p
	},
}

// earlyReleaseClaimer locks, looks and works in one transaction, and unlocks as its last statement.
type earlyReleaseClaimer struct{ *idempotency.InsertClaimer }

const (
	lockSQL      = `SELECT pg_advisory_lock(hashtextextended($1, 0))`
	unlockAllSQL = `SELECT pg_advisory_unlock_all()`
)

// Claim implements idempotency.Claimer.
func (c earlyReleaseClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	conn, err := pool(c.InsertClaimer).Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("acquire connection: %w", err)
	}
	tx, err := lockAndLook(ctx, conn, req)
	if tx == nil {
		letGo(ctx, conn)
		return nil, err
	}
	return &idempotency.Claim{
		Tx:        tx,
		Completer: unlockingCompleter{byKey{store: c.Store, req: req}},
		Release:   func() { letGo(ctx, conn) }, // what a failure has left locked
	}, nil
}

// lockAndLook returns the open transaction if there is no record.
func lockAndLook(ctx context.Context, conn *pgxpool.Conn, req *idempotency.Request) (pgx.Tx, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	if _, err := tx.Exec(ctx, lockSQL, lockName(req)); err != nil {
		return nil, fmt.Errorf("wait for advisory lock: %w", err)
	}
	taken, err := look(ctx, tx, req)
	if err != nil || taken {
		return nil, err
	}
	return tx, nil
}

// letGo gives the connection back as it was.
func letGo(ctx context.Context, conn *pgxpool.Conn) {
	defer conn.Release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime)
	defer cancel()
	_, _ = conn.Exec(ctx, "ROLLBACK") // after a commit it only warns
	_, _ = conn.Exec(ctx, unlockAllSQL)
}

type unlockingCompleter struct{ byKey }

// Complete implements idempotency.Completer.
func (c unlockingCompleter) Complete(b *pgx.Batch, claim *idempotency.Claim, req *idempotency.Request, resp *idempotency.Response) {
	c.byKey.Complete(b, claim, req, resp)
	b.Queue(unlockSQL, lockName(req))
}
