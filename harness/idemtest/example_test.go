package idemtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/harness/idemtest"
)

// orders is the service under test. Its row is the claim: who inserts it has placed the order, and everybody else is told of that one.
type orders struct{ db *pgxpool.Pool }

const (
	createOrders = `CREATE TABLE IF NOT EXISTS orders (id bigserial PRIMARY KEY, idem_key uuid UNIQUE NOT NULL, item text NOT NULL)`
	placeOrder   = `INSERT INTO orders (idem_key, item) VALUES ($1, $2) ON CONFLICT (idem_key) DO NOTHING RETURNING id`
	findOrder    = `SELECT id, item FROM orders WHERE idem_key = $1`
)

func (o orders) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, err := uuid.Parse(r.Header.Get("Idempotency-Key"))
	var order struct {
		ID   int64  `json:"id"`
		Item string `json:"item"`
	}
	if err != nil || json.NewDecoder(r.Body).Decode(&order) != nil {
		http.Error(w, "an order needs an Idempotency-Key and a JSON body", http.StatusBadRequest)
		return
	}
	asked := order.Item
	err = o.db.QueryRow(r.Context(), placeOrder, key, asked).Scan(&order.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		err = o.db.QueryRow(r.Context(), findOrder, key).Scan(&order.ID, &order.Item)
	}
	switch {
	case err != nil:
		http.Error(w, "try again", http.StatusInternalServerError)
	case order.Item != asked:
		http.Error(w, "the key was used for another order", http.StatusUnprocessableEntity)
	default:
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"id": %d, "item": %q}`, order.ID, order.Item)
	}
}

// ordersAreSafeToRetry is a test of the service; in its own package it would be called TestOrdersAreSafeToRetry.
func ordersAreSafeToRetry(t *testing.T) {
	db, err := pgxpool.New(t.Context(), idemtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := db.Exec(t.Context(), createOrders); err != nil {
		t.Fatal(err)
	}
	idemtest.Run(t, idemtest.Handler(orders{db}), idemtest.Endpoint{
		Path:      "/orders",
		Body:      `{"item": "book {{number:1-9}}"}`,
		OtherBody: `{"item": "lamp"}`,
		Key:       idemtest.Key{Format: idemtest.UUID4},
		Contract: idemtest.Contract{
			Profile:   "ietf",
			OtherUser: idemtest.Row{Does: "anything"}, // the service knows no users
		},
	}, idemtest.Pgx(db, `SELECT id, idem_key AS key, item FROM orders`))
}

// A service's test gets a throwaway PostgreSQL, serves its handler, says what the endpoint promises, and names the rows that executions leave.
func Example() {
	tests := []testing.InternalTest{{Name: "TestOrdersAreSafeToRetry", F: ordersAreSafeToRetry}} // go test finds it by its name
	fmt.Println(tests[0].Name)
	// Output: TestOrdersAreSafeToRetry
}
