package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// ownPrefix opens the names of databases and schemas that External makes, and of nothing else. Those of versions before locks were held
	// had another one, so that they are never taken for abandoned.
	ownPrefix = "idemstorm_run_"
	ownForm   = `^` + ownPrefix + `[0-9a-f]{16}$`

	selectLeft = `
		SELECT datname, false FROM pg_database d
		WHERE datname ~ '` + ownForm + `' AND pg_get_userbyid(datdba) = current_user
		  AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)
		UNION ALL
		SELECT nspname, true FROM pg_namespace
		WHERE nspname ~ '` + ownForm + `' AND pg_get_userbyid(nspowner) = current_user`
	selectOwners = `
		SELECT objid::bigint FROM pg_locks
		WHERE locktype = 'advisory' AND classid::bigint = $1 AND objsubid = 2 AND granted`
	waitBriefly = `SET lock_timeout = '1s'`
	// Without FORCE: one that somebody is connected to stays.
	dropUnused = `DROP DATABASE IF EXISTS %s`
)

// graceTime is how long something must be without an owner: an owner whose session was cut, as by a restart of the server, is back sooner.
const graceTime = 2 * time.Second

// left is a database or a schema that External has made, for whoever.
type left struct {
	name   string
	schema bool
}

// Sweep drops what killed programs have left on the server that dsn names: databases and schemas of External's that belong to the same
// role, to which nobody is connected, and whose owner's lock nobody has held for two seconds. It returns their names. It waits only when it
// has found something.
func Sweep(ctx context.Context, dsn string) (dropped []string, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("look for what killed runs have left: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	found, err := abandonedForLong(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, l := range found {
		gone, err := l.drop(ctx, conn)
		if err != nil {
			return dropped, err
		}
		if gone {
			dropped = append(dropped, l.name)
		}
	}
	return dropped, nil
}

// abandonedForLong looks twice, unless there is nothing.
func abandonedForLong(ctx context.Context, conn *pgx.Conn) ([]left, error) {
	first, err := abandonedOn(ctx, conn)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	if err := pause(ctx, graceTime); err != nil {
		return nil, err
	}
	still, err := abandonedOn(ctx, conn)
	return slices.DeleteFunc(still, func(l left) bool { return !slices.Contains(first, l) }), err
}

// abandonedOn lists what has no owner. The names are read first: an owner has its lock before there is anything of its name.
func abandonedOn(ctx context.Context, conn *pgx.Conn) ([]left, error) {
	rows, err := conn.Query(ctx, selectLeft)
	if err != nil {
		return nil, fmt.Errorf("list the databases of runs: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l left, err error) { return l, row.Scan(&l.name, &l.schema) })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if rows, err = conn.Query(ctx, selectOwners, int64(ownerLocks)); err != nil {
		return nil, fmt.Errorf("list the owners of databases: %w", err)
	}
	owners, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	owned := func(l left) bool { return slices.Contains(owners, int64(uint32(lockOf(l.name)))) }
	return slices.DeleteFunc(found, owned), err
}

// drop says whether it is gone; one that somebody uses after all stays.
func (l left) drop(ctx context.Context, conn *pgx.Conn) (gone bool, err error) {
	statement := dropUnused
	if l.schema {
		statement = dropSchema
	}
	if _, err := conn.Exec(ctx, waitBriefly); err != nil {
		return false, fmt.Errorf("bound the wait for a lock: %w", err)
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(statement, pgx.Identifier{l.name}.Sanitize()))
	refused := (*pgconn.PgError)(nil)
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &refused):
		return false, nil // in use, locked, or another program was faster
	}
	return false, fmt.Errorf("drop %s, which a killed run has left: %w", l.name, err)
}
