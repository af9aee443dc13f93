package claimtest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// patience is a bound that nothing but a hang comes near, on a machine that is busy with other tests too.
var patience = 30 * time.Second

const (
	// soon is for what has to grow old in a test. Nothing fails when it passes early.
	soon = 300 * time.Millisecond
	// aWait is a deadline for who waits in vain. Half of it is left to answer in.
	aWait = 4 * time.Second
	// lookEvery is the pause between two looks at a condition.
	lookEvery = 2 * time.Millisecond
)

// rig is one rule's: its view of the database, its users, its replicas.
type rig struct {
	*testing.T
	strategy idempotency.Strategy
	on       Stores
	db       *pgxpool.Pool
	users    [2]int32
}

const (
	createEffectsSQL = `CREATE TABLE IF NOT EXISTS claimtest_effects (idem_key TEXT, user_id INTEGER, endpoint TEXT, execution UUID)`
	lockSQL          = `SELECT pg_advisory_xact_lock(hashtext('claimtest'))`
	createUserSQL    = `INSERT INTO users (email) VALUES ($1) RETURNING id`
)

func newRig(t *testing.T, s idempotency.Strategy, on Stores) *rig {
	t.Helper()
	r := &rig{T: t, strategy: s, on: on}
	r.db = r.pool(on.DSN, nil)
	must(r, pgx.BeginFunc(t.Context(), r.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), lockSQL); err != nil { // two at once cannot create one table, even if not exists
			return err
		}
		_, err := tx.Exec(t.Context(), createEffectsSQL)
		return err
	}))
	for i := range r.users {
		must(r, r.db.QueryRow(t.Context(), createUserSQL, uuid.NewString()+"@claim.test").Scan(&r.users[i]))
	}
	return r
}

// must ends the test on an error of the rig's own.
func must(r *rig, err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// pool opens one that is closed with the test; change may be nil. What has not been given back by then is an error, not a hang.
func (r *rig) pool(dsn string, change func(*pgxpool.Config)) *pgxpool.Pool {
	r.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	must(r, err)
	cfg.MaxConns = 40 // more than there are duplicates: some strategies hold one for each
	if change != nil {
		change(cfg)
	}
	pool, err := pgxpool.NewWithConfig(r.Context(), cfg)
	must(r, err)
	r.Cleanup(func() {
		closed := make(chan struct{})
		go func() { pool.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(patience):
			r.Errorf("%d connections were never given back", pool.Stat().AcquiredConns())
		}
	})
	return pool
}

// eventually waits for what another goroutine or the database brings about.
func (r *rig) eventually(what string, holds func() bool) {
	r.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(lookEvery) {
		if time.Now().After(deadline) {
			r.Fatalf("%s: it did not come about", what)
		}
	}
}

func (r *rig) count(sql string, args ...any) (n int) {
	r.Helper()
	must(r, r.db.QueryRow(r.Context(), sql, args...).Scan(&n))
	return n
}

func (r *rig) exec(sql string, args ...any) {
	r.Helper()
	_, err := r.db.Exec(r.Context(), sql, args...)
	must(r, err)
}

const (
	effectsSQL = `SELECT count(*) FROM claimtest_effects WHERE idem_key = $1`
	recordsSQL = `SELECT count(*) FROM idempotency_keys WHERE idem_key = $1`
	stateSQL   = `SELECT count(*) FROM idempotency_keys WHERE idem_key = $1 AND status = $2`
	replaysSQL = `SELECT count(*) FROM audit_log WHERE idem_key = $1 AND action = '` + idempotency.ReplayAction + `'`
)

// wantEffects counts a key's executions, by rows.
func (r *rig) wantEffects(key string, want int) {
	r.Helper()
	if got := r.count(effectsSQL, key); got != want {
		r.Fatalf("%d executions of key %s, want %d", got, key, want)
	}
}

// wantRecords counts a key's records, and asks that all of them have the state.
func (r *rig) wantRecords(key string, want int, state idempotency.Status) {
	r.Helper()
	all, so := r.count(recordsSQL, key), r.count(stateSQL, key, state)
	if all != want || so != want {
		r.Fatalf("%d records of key %s, %d of them %s; want %d", all, key, so, state, want)
	}
}

// detached outlives the rule's context, which ends before its clean-up runs.
func (r *rig) detached() context.Context { return context.WithoutCancel(r.Context()) }
