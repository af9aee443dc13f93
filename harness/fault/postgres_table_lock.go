package fault

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresTableLock is a migration that takes longer than its author thought: nobody else gets at the table, and who waits for it waits
// without an error. On the key table it is an outage of the key store alone.
var postgresTableLock = Kind{
	Name:   "postgres-table-lock",
	Story:  "a session holds an ACCESS EXCLUSIVE lock on a table until the fault ends: every statement on it waits",
	Sees:   "503 after the deadline; tier 2 goes on without dedup while the key table is locked",
	Holds:  "tier 1 executes nothing; waiting claims that get through afterwards end as failed or stale, not as orders twice",
	Total:  true,
	On:     []Target{Table},
	Check:  checkTable,
	Strike: lockTable,
}

// keyTable is the table of the key store (contract section 2).
const keyTable = "idempotency_keys"

var tableForm = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func checkTable(s Spec) error {
	if s.Table != "" && !tableForm.MatchString(s.Table) {
		return fmt.Errorf("table: %q is not lower-case letters, digits and underscores", s.Table)
	}
	return checkWhole(s)
}

// table is what a table lock locks.
func (s Spec) table() string {
	if s.Table == "" {
		return keyTable
	}
	return s.Table
}

// lockedOn begins with the path that is as good as out: the checks read it.
func (s Spec) lockedOn() string {
	if s.table() == keyTable {
		return fmt.Sprintf("%s (table %s)", Store, keyTable)
	}
	return fmt.Sprintf("%s (table %s)", Database, s.Table)
}

func lockTable(s Spec, w World) (Strike, error) {
	if w.Database == "" {
		return nil, errors.New("table: this subject's database cannot be reached")
	}
	return &tableLock{dsn: w.Database, table: s.table()}, nil
}

// tableLock is a transaction that does nothing but hold its lock.
type tableLock struct {
	dsn, table string
	conn       *pgx.Conn
	waited     int64
}

const (
	// The lock is waited for, but not for ever: meanwhile everybody else waits behind it.
	lockTableSQL = `SET LOCAL lock_timeout = '%dms'; LOCK TABLE %s IN ACCESS EXCLUSIVE MODE`
	waitingSQL   = `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = $1::regclass`
)

const lockWithin = 10 * time.Second

// Inject implements Strike.
func (l *tableLock) Inject(ctx context.Context) (err error) {
	if l.conn, err = pgx.Connect(ctx, l.dsn); err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	if _, err := l.conn.Exec(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("begin the transaction that locks: %w", err)
	}
	sql := fmt.Sprintf(lockTableSQL, lockWithin.Milliseconds(), pgx.Identifier{l.table}.Sanitize())
	if _, err := l.conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("lock table %s: %w", l.table, err)
	}
	return nil
}

// Heal implements Strike. The end of the session is the end of its lock.
func (l *tableLock) Heal(ctx context.Context) error {
	if l.conn == nil || l.conn.IsClosed() {
		return nil
	}
	err := l.conn.QueryRow(ctx, waitingSQL, l.table).Scan(&l.waited)
	_, rollback := l.conn.Exec(ctx, "ROLLBACK")
	if err = errors.Join(err, rollback, l.conn.Close(ctx)); err != nil {
		return fmt.Errorf("unlock table %s: %w", l.table, err)
	}
	return nil
}

// Felt implements Strike: sessions that waited for the table when healing began.
func (l *tableLock) Felt() int64 { return l.waited }
