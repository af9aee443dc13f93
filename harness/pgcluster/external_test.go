package pgcluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestAnExternalServerKeepsWhatItHad(t *testing.T) {
	cluster := startCluster(t, Options{})
	given := cluster.DSN("postgres")
	theirs := connect(t, given)
	execute(t, theirs, `CREATE TABLE users AS SELECT 'theirs' AS name`)
	before := inventory(t, theirs)

	database, err := External(t.Context(), given)
	check(t, err)
	ours := connect(t, database.DSN())
	execute(t, ours, `CREATE TABLE users (name text)`)
	execute(t, ours, `DROP TABLE users`)
	if database.Addr() != cluster.Addr() {
		t.Errorf("the address is %s, want %s", database.Addr(), cluster.Addr())
	}
	check(t, database.Close(t.Context())) // although a session is open
	check(t, database.Close(t.Context()))
	if after := inventory(t, theirs); after != before {
		t.Errorf("the server held %s and now holds %s", before, after)
	}
	queryText(t, theirs, `SELECT name FROM users`)
}

func TestWithoutCREATEDBASchemaIsUsed(t *testing.T) {
	cluster := startCluster(t, Options{})
	admin := connect(t, cluster.DSN("postgres"))
	execute(t, admin, `CREATE TABLE users AS SELECT 'theirs' AS name`)
	execute(t, admin, `CREATE ROLE plain LOGIN PASSWORD 'p w''x'`)
	execute(t, admin, `GRANT CREATE ON DATABASE postgres TO plain`)
	before := inventory(t, admin)
	host, port, _ := strings.Cut(cluster.Addr(), ":")
	for form, dsn := range map[string]string{
		"URL":      "postgresql://plain:p%20w%27x@" + cluster.Addr() + "/postgres?sslmode=disable&options=-c%20work_mem%3D5MB",
		"keywords": `host=` + host + ` port=` + port + ` user=plain password='p w\'x' dbname=postgres options='-c work_mem=5MB'`,
	} {
		database, err := External(t.Context(), dsn)
		check(t, err)
		ours := connect(t, database.DSN())
		execute(t, ours, `CREATE TABLE users (name text)`)
		if got := queryText(t, ours, `SELECT 'users'::regclass::oid::regclass::text || ' ' || current_schema()`); got != "users "+database.Name() {
			t.Errorf("%s: our table is %s", form, got)
		}
		if got := queryText(t, ours, `SHOW work_mem`); got != "5MB" {
			t.Errorf("%s: the option that was given is lost: %s", form, got)
		}
		check(t, database.Close(t.Context()))
	}
	if after := inventory(t, admin); after != before {
		t.Errorf("the server held %s and now holds %s", before, after)
	}
}

func TestARoleThatMayCreateNothingIsTold(t *testing.T) {
	cluster := startCluster(t, Options{})
	execute(t, connect(t, cluster.DSN("postgres")), `CREATE ROLE guest LOGIN PASSWORD 'guest'`)
	_, err := External(t.Context(), "postgres://guest:guest@"+cluster.Addr()+"/postgres?sslmode=disable")
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
}

func TestExistingTablesAreRefused(t *testing.T) {
	cluster := startCluster(t, Options{})
	check(t, RequireEmpty(t.Context(), cluster.DSN("postgres")))
	execute(t, connect(t, cluster.DSN("postgres")), `CREATE TABLE payments (n integer)`)
	err := RequireEmpty(t.Context(), cluster.DSN("postgres"))
	if !errors.Is(err, ErrNotEmpty) || !strings.Contains(err.Error(), "public.payments") {
		t.Errorf("got %v", err)
	}
}

func TestAConnectionIsLedThroughAProxy(t *testing.T) {
	for dsn, user := range map[string]string{
		"postgres://u:p%40ss@db.example:6000/shop?sslmode=require&application_name=a%20b": "u",
		"postgres:///shop?host=/run/postgresql&port=6000&user=v&application_name=a%20b":   "v",
		"host=db.example port=6000 user=w dbname=shop application_name='a b'":             "w",
	} {
		led, err := Via(dsn, "127.0.0.1:7777")
		check(t, err)
		config, err := pgx.ParseConfig(led)
		check(t, err)
		if got := address(config); got != "127.0.0.1:7777" || config.TLSConfig != nil || len(config.Fallbacks) > 0 {
			t.Errorf("%s leads to %s", led, got)
		}
		if config.User != user || config.Database != "shop" || config.RuntimeParams["application_name"] != "a b" {
			t.Errorf("%s lost something of %s", led, dsn)
		}
	}
}

func TestAnErrorDoesNotShowThePassword(t *testing.T) {
	const dsn = "postgres://u:s3cret@host:port/db"
	_, viaErr := Via(dsn, "127.0.0.1:1")
	_, externalErr := External(t.Context(), dsn)
	for _, err := range []error{viaErr, externalErr} {
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("got %v", err)
		}
	}
}

// inventory lists all databases, and the schemas and tables of one.
func inventory(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return queryText(t, conn, `
		SELECT string_agg(item, ' ' ORDER BY item) FROM (
			SELECT datname AS item FROM pg_database
			UNION ALL SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'
			UNION ALL SELECT schemaname || '.' || tablename FROM pg_tables
		) AS everything`)
}
