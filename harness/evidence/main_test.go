package evidence

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

var (
	cluster   *pgcluster.Cluster // one for the package; each test has a database of its own
	databases atomic.Int64
)

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if cluster, err = pgcluster.Start(context.Background(), pgcluster.Options{Fast: true}); err != nil {
		fmt.Fprintln(os.Stderr, "start PostgreSQL for the tests:", err)
		return 1
	}
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// database makes a database and runs SQL in it.
func database(t *testing.T, statements ...string) (dsn string) {
	t.Helper()
	name := fmt.Sprintf("evidence_%d", databases.Add(1))
	if err := cluster.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	dsn = cluster.DSN(name)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%v in %s", err, sql)
		}
	}
	return dsn
}

var upPart = regexp.MustCompile(`(?s)-- \+goose Up(.*)-- \+goose Down`)

// bundledSchema is the text of the bundled server's migrations: read as files, since this package must not know the server.
func bundledSchema(t *testing.T) (statements []string) {
	t.Helper()
	files, err := filepath.Glob("../../migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		up := upPart.FindStringSubmatch(string(text))
		if up == nil {
			t.Fatalf("%s has no part that goes up", file)
		}
		statements = append(statements, strings.ReplaceAll(up[1], "-- +goose", "--"))
	}
	return statements
}
