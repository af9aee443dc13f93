package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	takeLock    = `SELECT pg_advisory_lock(hashtextextended($1, 0))`
	releaseLock = `SELECT pg_advisory_unlock(hashtextextended($1, 0))`

	lockWithin = 10 * time.Second
)

// advisoryLock is a Locker for all processes of one database: a session-level advisory lock, held by a connection of its own. It is
// released with that connection, so that a process which dies leaves no lock behind.
type advisoryLock struct {
	db *pgxpool.Pool

	mu   sync.Mutex
	held map[string]*pgxpool.Conn // by key; only its holder is in it
}

// newAdvisoryLock has a pool apart from the orders': requests that wait for a lock must not keep its holder from the database.
func newAdvisoryLock(databaseURL string) (*advisoryLock, error) {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	config.MaxConns = 32
	db, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	return &advisoryLock{db: db, held: map[string]*pgxpool.Conn{}}, nil
}

// Lock waits until no other request, in any process, holds the key.
func (l *advisoryLock) Lock(key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	conn, err := l.db.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect for the lock: %w", err)
	}
	if _, err := conn.Exec(ctx, takeLock, key); err != nil {
		discard(conn) // it may hold the lock all the same
		return fmt.Errorf("take the lock: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[key] = conn
	return nil
}

// Unlock lets the next request have the key.
func (l *advisoryLock) Unlock(key string) error {
	l.mu.Lock()
	conn := l.held[key]
	delete(l.held, key)
	l.mu.Unlock()
	if conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	if _, err := conn.Exec(ctx, releaseLock, key); err != nil {
		discard(conn)
		return fmt.Errorf("release the lock: %w", err)
	}
	conn.Release()
	return nil
}

// discard closes the connection, and so whatever lock it holds is released.
func discard(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Hijack().Close(ctx)
}
