package orderserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

// Otherwise the crowd that an outage leaves behind is served oldest first, each with no time left to use its connection.
func TestWhoWaitsForAConnectionGivesUpWhileOthersStillUseTheirs(t *testing.T) {
	r := newRig(t)
	url := r.serve(func(c *orderserver.Config) { c.StorePoolSize, c.RequestDeadline = 1, 16*time.Second })
	tx := must(r.db.Begin(t.Context()))
	defer func() { _ = tx.Rollback(context.Background()) }() // after the one below there is nothing left to undo
	must(tx.Exec(t.Context(), `LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE`))
	first := make(chan reply, 1)
	go func() { first <- r.order(url, newKey()[0]) }()
	r.eventually("the first request has the only connection, and waits for the lock", func() bool {
		return r.count(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND backend_type = 'client backend' AND datname = current_database()`) == 1
	})
	r.want(r.order(url, newKey()[0]), 503, "idempotency_store_unavailable")
	select {
	case p := <-first:
		t.Errorf("the first was answered %s while the table was locked: the bound on the wait broke its statement off", p)
	default:
		must(0, tx.Rollback(t.Context()))
		r.want(<-first, 201, "")
	}
}
