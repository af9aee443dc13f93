package claimtest_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/migrations"
)

// dsnVariable hands the database of these tests to the run of the suite that one of them starts.
const dsnVariable = "CLAIMTEST_DSN"

// dsn is a migrated database, shared by the tests of the package.
var dsn = os.Getenv(dsnVariable)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if dsn != "" {
		return m.Run()
	}
	ctx := context.Background()
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{Fast: true, Settings: map[string]string{"max_connections": "1000"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start PostgreSQL:", err)
		return 1
	}
	dsn = cluster.DSN("postgres")
	code := 1
	if _, err := migrations.Up(ctx, dsn); err != nil {
		fmt.Fprintln(os.Stderr, "prepare database:", err)
	} else {
		code = m.Run()
	}
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		return cmp.Or(code, 1)
	}
	return code
}
