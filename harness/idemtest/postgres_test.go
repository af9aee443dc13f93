package idemtest_test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/idemtest"
)

func databases(t *testing.T, dsn string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT datname FROM pg_database`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func nameOf(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(u.Path, "/")
}

// Each parallel test has a database of its own, which goes with it even while a pool is still connected.
func TestADatabaseIsATestsOwnAndGoesWithIt(t *testing.T) {
	watching := idemtest.Postgres(t)
	var mu sync.Mutex
	var made []string
	t.Run("tests", func(t *testing.T) {
		for range 4 {
			t.Run("test", func(t *testing.T) {
				t.Parallel()
				dsn := idemtest.Postgres(t)
				db := pool(t, dsn, createShop)
				if _, err := db.Exec(t.Context(), insertSale, "k", "n"); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				made = append(made, nameOf(t, dsn))
			})
		}
	})
	slices.Sort(made)
	if len(slices.Compact(slices.Clone(made))) != 4 {
		t.Errorf("the databases are %v", made)
	}
	for _, name := range databases(t, watching) {
		if slices.Contains(made, name) {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestAServerThatIsGivenGetsTheDatabase(t *testing.T) {
	given := idemtest.Postgres(t)
	t.Setenv(idemtest.PostgresVariable, given)
	var name string
	t.Run("test", func(t *testing.T) {
		dsn := idemtest.Postgres(t)
		if name = nameOf(t, dsn); !slices.Contains(databases(t, given), name) || name == nameOf(t, given) {
			t.Errorf("%s is not a database of its own on the given server", name)
		}
	})
	if slices.Contains(databases(t, given), name) {
		t.Errorf("%s is still there", name)
	}
	t.Setenv(idemtest.PostgresVariable, "postgres://127.0.0.1:1/none?sslmode=disable")
	record(t, func(t testing.TB) { idemtest.Postgres(t) }).mustSay(t, "IDEMTEST_POSTGRES: ", "127.0.0.1:1")
}
