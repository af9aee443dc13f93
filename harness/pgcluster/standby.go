package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// Replication says when a primary acknowledges a commit.
type Replication string

// The ways of replication.
const (
	Asynchronous Replication = "asynchronous" // once it is on the primary's disk: a failover may lose it
	Synchronous  Replication = "synchronous"  // once it is on the standby's disk too
)

// standbyName is how the primary knows its standby.
const standbyName = "standby"

// keptLog lets a standby that was held back find what it has missed, also after a checkpoint.
const keptLog = "256MB"

const (
	selectStreaming = `
		SELECT EXISTS (SELECT FROM pg_stat_replication
		WHERE application_name = $1 AND state = 'streaming' AND sync_state = $2)`
	selectFlushed   = `SELECT pg_current_wal_flush_lsn()::text`
	selectCaughtUp  = `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = $1 AND flush_lsn >= $2::pg_lsn)`
	promote         = `SELECT pg_promote(true, $1)`
	promoteWithin   = 60 // seconds
	standbySettings = "primary_conninfo = 'host=%s port=%d user=%s password=%s sslmode=disable application_name=%s'\n"
)

// ErrNotPromoted says that a standby did not become a primary in time.
var ErrNotPromoted = errors.New("the standby was not promoted")

// StartStandby copies the running cluster and starts the copy as its streaming hot standby, on a port of its own. It returns when the
// standby streams and, if synchronous, when commits wait for it. The standby is a cluster like any other: it leaves as little behind, and
// outlives its primary.
func (c *Cluster) StartStandby(ctx context.Context, mode Replication) (*Cluster, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	dir, err := newFolder(filepath.Dir(c.folder.path), c.account)
	if err != nil {
		return nil, err
	}
	s := &Cluster{
		binDir: c.binDir, account: c.account, folder: dir, settings: maps.Clone(c.settings), log: newTail(nil), password: c.password,
	}
	if err := s.follow(ctx, c, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("start a standby: %w", err), s.Stop())
	}
	return s, nil
}

// follow makes s the standby of primary.
func (s *Cluster) follow(ctx context.Context, primary *Cluster, mode Replication) error {
	if err := primary.AlterSystem(ctx, map[string]string{"wal_keep_size": keptLog}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.guard, err = watch(s.folder.path); err != nil {
		return err
	}
	if err := primary.backUp(ctx, s.folder.data()); err != nil {
		return err
	}
	if err := s.configureStandby(primary.port); err != nil {
		return err
	}
	for range portAttempts {
		if s.port, err = loopback.FreePort(); err != nil {
			return err
		}
		if err = s.run(ctx); err == nil || !s.log.portTaken() {
			break
		}
	}
	if err != nil {
		return err
	}
	return primary.awaitStandby(ctx, mode)
}

// configureStandby overwrites what the primary was told by ALTER SYSTEM, so that a promoted standby waits for nobody. The password stands in a
// file, not among the arguments, which everybody on the machine may read.
func (s *Cluster) configureStandby(primary int) error {
	text := fmt.Sprintf(standbySettings, loopback.Host, primary, Superuser, s.password, standbyName)
	if err := s.account.writeFile(filepath.Join(s.folder.data(), "postgresql.auto.conf"), text); err != nil {
		return err
	}
	return s.account.writeFile(filepath.Join(s.folder.data(), "standby.signal"), "")
}

func (c *Cluster) awaitStandby(ctx context.Context, mode Replication) error {
	state := "async"
	if mode == Synchronous {
		state = "sync"
		if err := c.AlterSystem(ctx, map[string]string{"synchronous_standby_names": standbyName}); err != nil {
			return err
		}
	}
	return c.withConnection(ctx, func(conn *pgx.Conn) error {
		return awaitTrue(ctx, conn, selectStreaming, standbyName, state)
	})
}

// AwaitReplicated returns when everything that the cluster has flushed by now, and so every commit that it has acknowledged, is on the
// standby's disk.
func (c *Cluster) AwaitReplicated(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	err := c.withConnection(ctx, func(conn *pgx.Conn) error {
		var flushed string
		if err := conn.QueryRow(ctx, selectFlushed).Scan(&flushed); err != nil {
			return err
		}
		return awaitTrue(ctx, conn, selectCaughtUp, standbyName, flushed)
	})
	if err != nil {
		return fmt.Errorf("wait for the standby: %w", err)
	}
	return nil
}

// Promote makes a standby a primary of its own, and returns when it takes writes.
func (c *Cluster) Promote(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	done := false
	err := c.withConnection(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, promote, promoteWithin).Scan(&done)
	})
	if err != nil {
		return fmt.Errorf("promote the standby: %w", err)
	}
	if !done {
		return ErrNotPromoted
	}
	return nil
}

// awaitTrue asks a question again and again until the answer is yes.
func awaitTrue(ctx context.Context, conn *pgx.Conn, question string, arguments ...any) error {
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		var yes bool
		if err := conn.QueryRow(ctx, question, arguments...).Scan(&yes); err != nil || yes {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// makeFolder makes a folder that only the account may enter, as the server wants it.
func (a *account) makeFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return fmt.Errorf("make a folder for the server: %w", err)
	}
	return a.take(path)
}
