package pgcluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	createSchema = `CREATE SCHEMA %s`
	dropSchema   = `DROP SCHEMA IF EXISTS %s CASCADE`
	// Views and sequences count: a migration would run into them as well.
	selectTables = `
		SELECT format('%I.%I', n.nspname, c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
		  AND n.nspname = ANY (current_schemas(false))
		ORDER BY 1 LIMIT 5`
)

// insufficientPrivilege is PostgreSQL's SQLSTATE for a right that was not granted.
const insufficientPrivilege = "42501"

// ErrNotEmpty is returned, wrapped, when a database holds tables that are not ours.
var ErrNotEmpty = errors.New("the database is not empty")

// Database is a database of our own on somebody else's server: a database where
// the role may create one, otherwise a schema in the database that was named.
type Database struct {
	name  string
	admin string // the connection string that was given
	dsn   string
	addr  string
	drop  string
	owner *owner
}

// External creates an empty database with a unique name on the server that dsn
// names. Nothing that exists there is read or changed. Close drops it; if the
// program is killed before, a database or schema named idemstorm_run_… stays,
// and Sweep finds and drops it.
func External(ctx context.Context, dsn string) (*Database, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("parse --dsn: %w", err)
	}
	given, err := parseConnectionString(dsn)
	if err != nil {
		return nil, err
	}
	d := &Database{name: uniqueName(), admin: dsn, addr: address(config)}
	if d.owner, err = own(ctx, dsn, d.name); err != nil {
		return nil, fmt.Errorf("reach the server at %s: %w", d.addr, err)
	}
	d.dsn, d.drop = given.database(d.name).text, dropDatabase
	err = d.run(ctx, createDatabase)
	if denied(err) {
		options := strings.TrimSpace(config.RuntimeParams["options"] + " -c search_path=" + d.name)
		d.dsn, d.drop = given.with("options", options).text, dropSchema
		err = d.run(ctx, createSchema)
	}
	if err != nil {
		d.owner.release()
		return nil, fmt.Errorf("create a database of our own at %s: %w", d.addr, err)
	}
	if err := RequireEmpty(ctx, d.dsn); err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

// RequireEmpty returns ErrNotEmpty, with some of the names, when the schemas on
// the connection's search path hold tables. It is the check to make before
// creating tables in a place that one has not created oneself.
func RequireEmpty(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("look for existing tables: %w", err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, selectTables)
	if err != nil {
		return fmt.Errorf("look for existing tables: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for existing tables: %w", err)
	}
	if len(names) > 0 {
		return fmt.Errorf("%w: it holds %s; name a server where a new database may be created",
			ErrNotEmpty, strings.Join(names, ", "))
	}
	return nil
}

// DSN leads to the database, as the role of the connection string that was given.
func (d *Database) DSN() string { return d.dsn }

// Addr is the server's address, as host:port.
func (d *Database) Addr() string { return d.addr }

// Name is the name of the database or schema.
func (d *Database) Name() string { return d.name }

// Close drops what External created, and cuts the sessions that still use it. It
// may be called again.
func (d *Database) Close(ctx context.Context) error {
	defer d.owner.release()
	if err := d.run(ctx, d.drop); err != nil {
		return fmt.Errorf("drop our own database %s at %s: %w", d.name, d.addr, err)
	}
	return nil
}

func (d *Database) run(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, d.admin)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, fmt.Sprintf(statement, pgx.Identifier{d.name}.Sanitize()))
	return errors.Join(err, conn.Close(ctx))
}

func uniqueName() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return ownPrefix + hex.EncodeToString(random[:])
}

func denied(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == insufficientPrivilege
}
