package pgcluster

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// The kinds of processes that Hold is meant for, as pg_stat_activity calls them.
const (
	WALSender = "walsender" // passes the log on to a standby
	WALWriter = "walwriter" // writes what commits without a wait of their own leave in memory
)

// selectIdle asks whether a process waits for work: then it holds no lock that others need.
const (
	selectKind = `SELECT pid FROM pg_stat_activity WHERE backend_type = $1`
	selectIdle = `SELECT COALESCE(wait_event_type = 'Activity', false) FROM pg_stat_activity WHERE pid = $1`
)

// Hold stops (SIGSTOP) every process of one kind and leaves the rest of the cluster at work. Each is stopped while it waits for work, so that
// nobody waits for it. Resume lets them go on; Kill, Halt and Stop need no Resume before.
func (c *Cluster) Hold(ctx context.Context, kind string) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return ErrNotRunning
	}
	err := c.withConnection(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, selectKind, kind)
		if err != nil {
			return err
		}
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err == nil && len(pids) == 0 {
			err = fmt.Errorf("there is none")
		}
		for _, pid := range pids {
			if err == nil {
				err = c.holdOne(ctx, conn, pid)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("hold each %s of the cluster: %w", kind, err)
	}
	return nil
}

// holdOne stops the process, and lets it go on for a moment when it was stopped at work. What is stopped is known to Resume and to the guardian.
func (c *Cluster) holdOne(ctx context.Context, conn *pgx.Conn, pid int) error {
	for {
		c.paused = append(c.paused, pid)
		c.guard.paused(c.paused)
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		if idle, err := atRest(ctx, conn, pid); idle || err != nil {
			return err
		}
		_ = syscall.Kill(pid, syscall.SIGCONT)
		c.paused = slices.DeleteFunc(c.paused, func(p int) bool { return p == pid })
		c.guard.paused(c.paused)
		time.Sleep(settleInterval)
	}
}

// atRest waits until the process is stopped, and says whether it was waiting for work.
func atRest(ctx context.Context, conn *pgx.Conn, pid int) (idle bool, err error) {
	for !resting(pid) {
		if err := ctx.Err(); err != nil {
			return false, fmt.Errorf("process %d still runs after SIGSTOP: %w", pid, err)
		}
		time.Sleep(settleInterval)
	}
	err = conn.QueryRow(ctx, selectIdle, pid).Scan(&idle)
	return idle, err
}
