package idemtest_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/harness/idemtest"
)

func TestEveryOrderOfTheRightServiceHolds(t *testing.T) {
	start := func(dsn string) (http.Handler, error) { return orders{pool(t, dsn, createOrders)}, nil }
	idemtest.Explore(t, start, idemtest.Endpoint{Path: "/orders", Body: `{"item": "book"}`}, `SELECT id, idem_key AS key, item FROM orders`)
}

func TestAnOrderThatExecutesTwiceIsFoundAndShown(t *testing.T) {
	start := func(dsn string) (http.Handler, error) { return checkThenInsert(pool(t, dsn, createShop)), nil }
	r := record(t, func(t testing.TB) { idemtest.Explore(t, start, ordering, sales) })
	if !r.failed || r.fatal {
		t.Fatalf("failed %v, fatal %v: %s", r.failed, r.fatal, r.said.String())
	}
	r.mustSay(t, "VIOLATED", "at-most-once", "SELECT count(*)", "^ this makes it wrong", "executions 2")
}

func TestAServiceThatDoesNotStartIsNotExplored(t *testing.T) {
	start := func(string) (http.Handler, error) { return nil, errors.New("no licence") }
	r := record(t, func(t testing.TB) { idemtest.Explore(t, start, ordering, sales) })
	r.mustSay(t, "start: no licence")
	wrong := func(dsn string) (http.Handler, error) {
		db, err := pgxpool.New(t.Context(), dsn)
		if err == nil {
			t.Cleanup(db.Close)
		}
		return orders{db}, err
	}
	r = record(t, func(t testing.TB) { idemtest.Explore(t, wrong, ordering, "SELECT 'none' AS key") })
	r.mustSay(t, "under a fresh key it must succeed")
}
