package fault

import (
	"context"
	"fmt"
)

// postgresReadOnly is a server that somebody has closed to writes, such as for a move to another one, or that a provider has closed
// because its disk was nearly full.
var postgresReadOnly = Kind{
	Name:   "postgres-read-only",
	Story:  "the database server takes no writes (SQLSTATE 25006), on open sessions and new ones, until the fault ends",
	Sees:   "503 on whatever writes, at once",
	Holds:  "tier 1 executes nothing, not even a claim",
	Total:  true,
	On:     onlyPostgres,
	Check:  checkWhole,
	Strike: changing("25006", closeToWrites, openToWrites),
}

const (
	readOnlySQL  = `ALTER SYSTEM SET default_transaction_read_only = on`
	writableSQL  = `ALTER SYSTEM RESET default_transaction_read_only`
	reloadSQL    = `SELECT pg_reload_conf()`
	isWritingSQL = `SELECT current_setting('default_transaction_read_only') = 'off'`
)

func closeToWrites(ctx context.Context, s *insidePostgres) error {
	return s.reload(ctx, readOnlySQL, false)
}

func openToWrites(ctx context.Context, s *insidePostgres) error {
	if err := s.again(ctx); err != nil {
		return err
	}
	return s.reload(ctx, writableSQL, true)
}

// reload returns when the change holds for every session: the postmaster tells its open sessions before it opens a new one that has it.
func (s *insidePostgres) reload(ctx context.Context, sql string, writable bool) error {
	for _, statement := range []string{sql, reloadSQL} {
		if _, err := s.admin.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return until(ctx, func(ctx context.Context) (is bool, err error) {
		conn, err := s.connect(ctx)
		if err != nil {
			return false, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		if err := conn.QueryRow(ctx, isWritingSQL).Scan(&is); err != nil {
			return false, fmt.Errorf("ask whether the server takes writes: %w", err)
		}
		return is == writable, nil
	})
}
