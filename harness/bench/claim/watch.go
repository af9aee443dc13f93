package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

// watch reads what the database and the server's pools count when the race begins and when it has ended, and looks for waiting sessions
// meanwhile. The driver tells it of both moments, and waits for it.
type watch struct {
	ctx    context.Context
	load   *load
	racing bool
	before counts
	spent  counts
	locks  *sampler
	err    error
}

// counts are what only grows, and whether it could be read.
type counts struct {
	statements, wal                int64
	pool                           evidence.PoolWaits
	hasStatements, hasWAL, hasPool bool
}

// Phase implements drive.Progress.
func (w *watch) Phase(name string, _ int64) {
	if w.racing = name == race; !w.racing {
		return
	}
	var err error
	if w.before, err = w.load.counts(w.ctx); err == nil {
		w.locks, err = startSampler(w.ctx, w.load.db.dsn)
	}
	w.err = errors.Join(w.err, err)
}

// Add implements drive.Progress.
func (w *watch) Add(int64) {}

// Done implements drive.Progress.
func (w *watch) Done() {
	if !w.racing || w.locks == nil {
		return
	}
	w.err = errors.Join(w.err, w.locks.stop())
	after, err := w.load.counts(w.ctx)
	w.err = errors.Join(w.err, err)
	w.spent = counts{
		statements: after.statements - w.before.statements, hasStatements: after.hasStatements,
		wal: after.wal - w.before.wal, hasWAL: after.hasWAL && w.before.hasWAL,
		pool:    evidence.PoolWaits{Count: after.pool.Count - w.before.pool.Count, Time: after.pool.Time - w.before.pool.Time},
		hasPool: after.hasPool && w.before.hasPool,
	}
}

// perRequest divides what was spent.
func (w *watch) perRequest(requests int64) (p bench.PerRequest) {
	if requests == 0 || w.locks == nil {
		return p
	}
	share := func(known bool, total float64) *float64 {
		if !known {
			return nil
		}
		total /= float64(requests)
		return &total
	}
	p.Statements = share(w.spent.hasStatements, float64(w.spent.statements))
	p.WAL = share(w.spent.hasWAL, float64(w.spent.wal))
	p.LockWait = share(w.locks.samples > 0, w.locks.waited())
	p.PoolWait = share(w.spent.hasPool, float64(w.spent.pool.Time))
	p.PoolWaits = share(w.spent.hasPool, float64(w.spent.pool.Count))
	return p
}

const (
	// calls are what this database's sessions ran, BEGIN and COMMIT included; without the texts, which would have to be read from a file.
	calls = `
		SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements(false)
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`
	// written is the end of the log, whether it has been flushed or not. The server's other databases are idle meanwhile.
	written = `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint`
)

func (l *load) counts(ctx context.Context) (c counts, err error) {
	if l.db.statements {
		if err := l.db.admin.QueryRow(ctx, calls).Scan(&c.statements); err != nil {
			return c, fmt.Errorf("read pg_stat_statements: %w", err)
		}
		c.hasStatements = true
	}
	if err := l.db.admin.QueryRow(ctx, written).Scan(&c.wal); err != nil {
		return c, fmt.Errorf("read the position of the log: %w", err)
	}
	c.hasWAL = true
	c.pool, c.hasPool, err = evidence.ReadPoolWaits(ctx, l.replica.URL())
	return c, err
}

const (
	// waiting are the sessions of this database that wait for a lock of the lock manager: of a row, a transaction, an advisory one.
	waiting     = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	sampleEvery = 10 * time.Millisecond
)

// sampler looks at regular moments how many sessions wait for a lock. The average times the length is the time waited by all together.
type sampler struct {
	conn    *pgx.Conn
	cancel  context.CancelFunc
	done    chan struct{}
	begun   time.Time
	took    time.Duration
	samples int
	seen    int64
	err     error
}

func startSampler(ctx context.Context, dsn string) (*sampler, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("look for lock waits: %w", err)
	}
	_, _ = conn.Exec(ctx, unseen) // where it is refused, nothing is counted
	s := &sampler{conn: conn, done: make(chan struct{}), begun: time.Now()}
	ctx, s.cancel = context.WithCancel(ctx)
	go s.run(ctx)
	return s, nil
}

func (s *sampler) run(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		var n int64
		if err := s.conn.QueryRow(context.WithoutCancel(ctx), waiting).Scan(&n); err != nil {
			s.err = fmt.Errorf("look for lock waits: %w", err)
			return
		}
		s.seen += n
		s.samples++
	}
}

// stop ends the looking, and gives its error if there was one.
func (s *sampler) stop() error {
	s.took = time.Since(s.begun)
	s.cancel()
	<-s.done
	return errors.Join(s.err, s.conn.Close(context.Background()))
}

// waited is the time that all sessions together waited, in nanoseconds.
func (s *sampler) waited() float64 {
	return float64(s.seen) / float64(max(s.samples, 1)) * float64(s.took)
}
