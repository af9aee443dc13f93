package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// ownerLocks is the class of the advisory locks that owners hold; the other half is the hash of a name.
	ownerLocks = 0x1de35709
	// reownEvery is the wait between two attempts to take a lock again whose session was cut.
	reownEvery = 100 * time.Millisecond
	// reownWithin bounds one such attempt.
	reownWithin = 5 * time.Second

	tryOwn = `SELECT pg_try_advisory_lock($1, $2)`
	// An owner has nothing to say for as long as a run lasts. The setting exists since PostgreSQL 14.
	stayIdle = `SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'`
)

// owner says to everyone who looks into pg_locks that whoever made a database is alive: it holds an advisory lock in a session of its
// own, which ends with the program, however that ends. Where the session is cut, it takes the lock again.
type owner struct {
	dsn    string
	key    int32
	cancel context.CancelFunc
	done   chan struct{}
	ended  sync.Once
}

var errOwned = errors.New("another program has a lock of the same number")

// own takes the lock of a name. It must be held before anything of the name exists.
func own(ctx context.Context, dsn, name string) (*owner, error) {
	o := &owner{dsn: dsn, key: lockOf(name), done: make(chan struct{})}
	conn, err := o.take(ctx)
	if err != nil {
		return nil, err
	}
	var alive context.Context
	alive, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go o.keep(alive, conn)
	return o, nil
}

func (o *owner) take(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, o.dsn)
	if err != nil {
		return nil, err
	}
	var taken bool
	_, err = conn.Exec(ctx, stayIdle)
	if err == nil {
		err = conn.QueryRow(ctx, tryOwn, int32(ownerLocks), o.key).Scan(&taken)
	}
	if err == nil && !taken {
		err = errOwned
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// keep holds the session until release. Nobody notifies it: what ends the wait is the end of the session.
func (o *owner) keep(alive context.Context, conn *pgx.Conn) {
	defer close(o.done)
	for alive.Err() == nil {
		switch {
		case conn == nil:
			if pause(alive, reownEvery) == nil {
				conn = o.again(alive)
			}
		case listen(alive, conn) != nil:
			letGo(conn)
			conn = nil
		}
	}
	if conn != nil {
		letGo(conn)
	}
}

func listen(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.WaitForNotification(ctx)
	return err
}

// letGo ends a session, and returns when nothing of it is left on this side.
func letGo(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), reownWithin)
	defer cancel()
	_ = conn.Close(ctx) // it may be broken already
	<-conn.PgConn().CleanupDone()
}

// again is nil while the server cannot be reached.
func (o *owner) again(alive context.Context) *pgx.Conn {
	ctx, cancel := context.WithTimeout(alive, reownWithin)
	defer cancel()
	conn, err := o.take(ctx)
	if err != nil {
		return nil
	}
	return conn
}

// release gives the lock back. It may be called again.
func (o *owner) release() {
	o.ended.Do(func() {
		o.cancel()
		<-o.done
	})
}

// lockOf is a name's half of its lock. Two names of one number are no danger: the second owner is refused, and a database without an
// owner is kept.
func lockOf(name string) int32 {
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, name)
	return int32(hash.Sum32())
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
