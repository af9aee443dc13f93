package pgcluster

import (
	"context"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

const (
	createDatabase = `CREATE DATABASE %s TEMPLATE template0`
	dropDatabase   = `DROP DATABASE IF EXISTS %s WITH (FORCE)`
)

// DSN is the address of one of the cluster's databases as a URL, for the
// superuser, with the password in it: not for logs. "postgres" always exists.
func (c *Cluster) DSN(database string) string {
	dsn := url.URL{
		Scheme: "postgres", User: url.UserPassword(Superuser, c.password),
		Host: c.Addr(), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return dsn.String()
}

// CreateDatabase creates an empty database, on the small disk if the cluster has one; a database that exists is an error.
func (c *Cluster) CreateDatabase(ctx context.Context, name string) error {
	if c.disk != nil {
		return c.execute(ctx, onTablespace, name)
	}
	return c.execute(ctx, createDatabase, name)
}

// DropDatabase drops a database and cuts the sessions that use it; one that does
// not exist is no error.
func (c *Cluster) DropDatabase(ctx context.Context, name string) error {
	return c.execute(ctx, dropDatabase, name)
}

func (c *Cluster) execute(ctx context.Context, statement, name string) error {
	sql := fmt.Sprintf(statement, pgx.Identifier{name}.Sanitize())
	err := c.withConnection(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}
