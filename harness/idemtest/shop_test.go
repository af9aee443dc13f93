package idemtest_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/harness/idemtest"
)

// shop is an endpoint over a table without any constraint, so that what guards it is the handler's.
const createShop = `CREATE TABLE IF NOT EXISTS sales (id bigserial PRIMARY KEY, idem_key text NOT NULL, note text NOT NULL)`

const (
	insertSale = `INSERT INTO sales (idem_key, note) VALUES ($1, $2)`
	countSales = `SELECT count(*) FROM sales WHERE idem_key = $1`
	sales      = `SELECT id, idem_key AS key, note FROM sales`
)

func pool(t testing.TB, dsn, schema string) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := db.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	return db
}

// checkThenInsert is the mistake that most people make first.
func checkThenInsert(db *pgxpool.Pool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, note := r.Header.Get("Idempotency-Key"), noteOf(r)
		var n int
		err := db.QueryRow(r.Context(), countSales, key).Scan(&n)
		if err == nil && n == 0 {
			_, err = db.Exec(r.Context(), insertSale, key, note)
		}
		if err != nil {
			http.Error(w, "try again", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
}

func noteOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body) // a body that ends early is another note
	return string(body)
}

// ordering is an endpoint of either shop.
var ordering = idemtest.Endpoint{Path: "/sales", Body: `note {{unique}}`, Headers: map[string]string{"Content-Type": "text/plain"}}
