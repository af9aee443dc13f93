package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The statements of a low-level backup; PostgreSQL 15 gave them other names.
const (
	selectMajor   = `SELECT current_setting('server_version_num')::int / 10000`
	startBackup   = `SELECT pg_backup_start('idemstorm', true)`
	stopBackup    = `SELECT labelfile FROM pg_backup_stop(false)`
	startBackup14 = `SELECT pg_start_backup('idemstorm', true, false)`
	stopBackup14  = `SELECT labelfile FROM pg_stop_backup(false, false)`
	renamedIn     = 15
)

// notCopied are folders whose contents a copy must not or need not have: a standby streams its log from its primary.
var notCopied = []string{"pg_wal", "pg_replslot", "pg_stat_tmp", "pg_dynshmem", "pg_notify", "pg_serial", "pg_snapshots", "pg_subtrans"}

// backUp copies the data of the running cluster to a folder that does not exist yet. It needs no program beside the server's own. Pages that are torn
// by being copied while they change are made whole by the log, which holds full pages during a backup.
func (c *Cluster) backUp(ctx context.Context, to string) error {
	return c.withConnection(ctx, func(conn *pgx.Conn) error {
		var major int
		if err := conn.QueryRow(ctx, selectMajor).Scan(&major); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		start, stop := startBackup, stopBackup
		if major < renamedIn {
			start, stop = startBackup14, stopBackup14
		}
		if _, err := conn.Exec(ctx, start); err != nil {
			return fmt.Errorf("back up: begin: %w", err)
		}
		if err := c.copyData(ctx, to); err != nil {
			return err
		}
		var label string
		if err := conn.QueryRow(ctx, stop).Scan(&label); err != nil {
			return fmt.Errorf("back up: end: %w", err)
		}
		return c.account.writeFile(filepath.Join(to, "backup_label"), label)
	})
}

// copyData copies files and folders; a file that vanishes meanwhile was not needed.
func (c *Cluster) copyData(ctx context.Context, to string) error {
	from := c.folder.data()
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch target := filepath.Join(to, inside); {
		case skipped(inside):
			return nil
		case entry.IsDir():
			return c.account.makeFolder(target)
		case !entry.Type().IsRegular():
			return fmt.Errorf("back up: %s is no ordinary file; a cluster with tablespaces or links cannot have a standby", path)
		default:
			return c.account.copyFile(path, target)
		}
	})
}

// skipped says what belongs to the running server alone. The folder for finished log segments is kept: the server expects it.
func skipped(path string) bool {
	top, _, within := strings.Cut(path, string(filepath.Separator))
	switch {
	case path == "postmaster.pid", path == "postmaster.opts", strings.Contains(path, "pgsql_tmp"):
		return true
	}
	return within && slices.Contains(notCopied, top) && path != filepath.Join("pg_wal", "archive_status")
}

// copyFile makes a copy that only the account may read.
func (a *account) copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	_, err = io.Copy(target, source)
	if err := errors.Join(err, target.Close()); err != nil {
		return fmt.Errorf("back up %s: %w", from, err)
	}
	return a.take(to)
}
