package idemtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// PostgresVariable is the environment variable that names a PostgreSQL server for Postgres to make its databases on, as a connection string, in
// place of a throwaway one: a CI job that brings a server along sets it.
const PostgresVariable = "IDEMTEST_POSTGRES"

// Postgres gives the test an empty PostgreSQL database of its own, and its URL. It is dropped when the test and its subtests have ended, whoever
// is still connected. Tests may be parallel.
//
// The server is started once for each test binary, in about a second, from the machine's PostgreSQL programs or downloaded ones; it listens on
// the loopback interface, as a user other than root, and ends with the binary, also when that is killed. Where there are no such
// programs the test fails, and the message says what to install. It keeps what it has committed as a server of yours does (fsync is on).
func Postgres(t testing.TB) (dsn string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), postgresWithin)
	defer cancel()
	dsn, drop, err := newDatabase(ctx)
	if err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), postgresWithin)
		defer cancel()
		if err := drop(ctx); err != nil {
			t.Errorf("idemtest: %v", err)
		}
	})
	return dsn
}

// postgresWithin bounds the start of a server, a download included, and the making of a database.
const postgresWithin = 5 * time.Minute

// throwaway is the server of this test binary.
var throwaway struct {
	sync.Mutex
	cluster *pgcluster.Cluster // nil before the first use
	made    int                // databases
}

// Stop ends the server that Postgres has started, if any; the next Postgres starts another. It is for a TestMain that looks for leaked
// goroutines when all tests have ended; without it the server ends with the test binary.
func Stop() error {
	throwaway.Lock()
	defer throwaway.Unlock()
	if throwaway.cluster == nil {
		return nil
	}
	cluster := throwaway.cluster
	throwaway.cluster = nil
	return cluster.Stop()
}

func newDatabase(ctx context.Context) (dsn string, drop func(context.Context) error, err error) {
	if given := os.Getenv(PostgresVariable); given != "" {
		database, err := pgcluster.External(ctx, given)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", PostgresVariable, err)
		}
		return database.DSN(), database.Close, nil
	}
	cluster, name, err := server(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := cluster.CreateDatabase(ctx, name); err != nil {
		return "", nil, err
	}
	return cluster.DSN(name), func(ctx context.Context) error { return cluster.DropDatabase(ctx, name) }, nil
}

// connections are enough for many parallel tests, each with a pool.
const connections = "500"

// server starts the server, once, and names a database that it does not have.
func server(ctx context.Context) (cluster *pgcluster.Cluster, database string, err error) {
	throwaway.Lock()
	defer throwaway.Unlock()
	if throwaway.cluster == nil {
		// The context is the test's, and the server outlives it: Start uses it to wait only.
		cluster, err := pgcluster.Start(ctx, pgcluster.Options{Settings: map[string]string{"max_connections": connections}})
		if err != nil {
			return nil, "", fmt.Errorf("start a throwaway PostgreSQL: %w", err)
		}
		throwaway.cluster = cluster
	}
	throwaway.made++
	return throwaway.cluster, fmt.Sprintf("idemtest_%d", throwaway.made), nil
}
