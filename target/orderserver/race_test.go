package orderserver_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
	"github.com/idemstorm/idemstorm/target/orderserver"
)

// storm sends n duplicates at once, in turn to each of the servers, and returns the answers.
func (r *rig) storm(n int, c call, urls ...string) []reply {
	replies := make([]reply, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { replies[i] = must(r.try(context.Background(), urls[i%len(urls)], c)) })
	}
	wg.Wait()
	return replies
}

func TestDuplicatesOverTwoReplicasExecuteOnceAtEveryIsolationLevel(t *testing.T) {
	for _, level := range []string{"", "read committed", "repeatable read", "serializable"} {
		t.Run("level "+level, func(t *testing.T) {
			r := newRig(t)
			isolate := func(c *orderserver.Config) { c.Isolation = level }
			a, b := r.serve(isolate), r.serve(isolate)
			key := newKey()
			fresh, replays := 0, 0
			for _, p := range r.storm(64, call{keys: key}, a, b) {
				switch {
				case p.status == 201 && p.header.Get("Idempotency-Replayed") == "true":
					replays++
				case p.status == 201:
					fresh++
				case p.status != 409 && p.status != 503:
					t.Errorf("a duplicate was answered %v", p)
				}
			}
			failed := r.count(inState, key[0], "failed")
			if fresh+failed != 1 || (failed == 1 && level != "serializable" && level != "repeatable read") {
				t.Fatalf("%d fresh answers, record failed: %d", fresh, failed)
			}
			r.wantRows(key[0], fresh, replays, 1)
			r.wantConserved()
		})
	}
}

// Under SERIALIZABLE nearly everything that happens at once rolls something back. None of it is an outage of the store.
func TestRivalsThatRollEachOtherBackLeaveNoRecordInFlight(t *testing.T) {
	r := newRig(t)
	serializable := func(c *orderserver.Config) { c.Isolation = "serializable" }
	a, b := r.serve(serializable), r.serve(serializable)
	var wg sync.WaitGroup
	for i := range 24 {
		c := call{keys: newKey(), token: r.seed.Users[i%usersOfRig].Token}
		wg.Go(func() { r.storm(4, c, a, b) })
	}
	wg.Wait()
	if n := r.count(`SELECT count(*) FROM idempotency_keys WHERE status = 'in_flight'`); n != 0 {
		t.Errorf("%d records are in flight, and nobody works on them", n)
	}
	for _, said := range []string{"store unavailable", "record left in flight"} {
		if strings.Contains(r.log.String(), said) {
			t.Errorf("the log says %q", said)
		}
	}
	r.wantConserved()
}

func TestOrdersOfOneUserUnderDifferentKeysAllStand(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if p, err := r.try(context.Background(), url, call{keys: newKey()}); err != nil || p.status != 201 {
				t.Errorf("order: %v %v", p, err)
			}
		})
	}
	wg.Wait()
	if n := r.count(`SELECT count(*) FROM paper_orders`); n != 32 {
		t.Fatalf("%d orders, want 32", n)
	}
	r.wantConserved()
}

func TestPositionIsClosedOnceByRivalsWithDifferentKeys(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := r.try(context.Background(), url, call{path: "/api/trading/positions/1/close", keys: newKey()})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.count(`SELECT count(*) FROM paper_orders`); n != 1 {
		t.Fatalf("%d orders closed one position", n)
	}
	r.wantConserved()
}

// slowAndQuick is a replica whose handler outlives the stale threshold, and one that answers at once.
func (r *rig) slowAndQuick(delay time.Duration) (slow, quick string) {
	slow = r.serve(func(c *orderserver.Config) { c.StaleAfter, c.HandlerDelay = 300*time.Millisecond, delay })
	quick = r.serve(func(c *orderserver.Config) { c.StaleAfter = 300 * time.Millisecond })
	return slow, quick
}

// begin sends a call in the background and returns once its key is claimed.
func (r *rig) begin(url string, c call) <-chan reply {
	done := make(chan reply, 1)
	go func() { done <- must(r.try(context.Background(), url, c)) }()
	r.eventually("claim", func() bool { return r.count(inState, c.keys[0], "in_flight") == 1 })
	return done
}

func TestWorkerThatOutlivesItsClaimCommitsNothing(t *testing.T) {
	r := newRig(t)
	slow, quick := r.slowAndQuick(1500 * time.Millisecond)
	c := call{keys: newKey()}
	zombie := r.begin(slow, c)
	r.eventually("retirement", func() bool {
		p := r.do(quick, c)
		return p.body["reason"] == "stale_in_flight"
	})
	r.want(r.do(quick, c), 201, "")
	r.want(<-zombie, 503, "idempotency_claim_lost")
	r.wantRows(c.keys[0], 1, 0, 1)
	r.wantConserved()
}

func TestStaleRecordIsRetiredByOneOfManyLosers(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	c := call{keys: newKey()}
	r.do(url, c)
	r.exec(`UPDATE idempotency_keys SET status = 'in_flight', locked_at = NOW() - INTERVAL '1 minute'`)
	retired, fresh := 0, 0
	for _, p := range r.storm(32, c, url) {
		switch {
		case p.body["reason"] == "stale_in_flight":
			retired++
		case p.status == 201 && p.header.Get("Idempotency-Replayed") == "":
			fresh++
		}
	}
	if retired != 1 || fresh > 1 {
		t.Fatalf("%d retired it, %d executed afterwards", retired, fresh)
	}
	r.want(r.do(url, c), 201, "")
}

func TestErasureMidFlightLeavesNoRecordAndNoOrder(t *testing.T) {
	r := newRig(t)
	slow, _ := r.slowAndQuick(500 * time.Millisecond)
	c := call{keys: newKey()}
	worker := r.begin(slow, c)
	if n := must(orderserver.Erase(t.Context(), r.db, idempotency.RecordEraser{}, 1)); n != 1 {
		t.Fatalf("%d records erased, want 1", n)
	}
	if p := <-worker; p.status < 400 {
		t.Fatalf("an erased user's order was placed: %v", p)
	}
	r.wantRows(c.keys[0], 0, 0, 0)
	r.want(r.do(slow, c), 401, "unauthorized")
}

func TestErasureOfTheRecordAloneFencesTheWorker(t *testing.T) {
	r := newRig(t)
	slow, _ := r.slowAndQuick(300 * time.Millisecond)
	c := call{keys: newKey()}
	worker := r.begin(slow, c)
	r.exec(`DELETE FROM idempotency_keys`)
	r.want(<-worker, 503, "idempotency_claim_lost")
	r.wantRows(c.keys[0], 0, 0, 0)
}

func TestErasureBesideTrafficLeavesNothingOfTheUser(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			if _, err := r.try(context.Background(), url, call{keys: newKey()}); err != nil {
				t.Error(err)
			}
		})
	}
	_, err := orderserver.Erase(t.Context(), r.db, idempotency.RecordEraser{}, 1)
	must(0, err)
	wg.Wait()
	if n := r.count(`SELECT count(*) FROM idempotency_keys`); n != 0 {
		t.Fatalf("%d records of an erased user came back", n)
	}
	if n := r.count(`SELECT count(*) FROM paper_orders o FULL JOIN audit_log a USING (execution_id) WHERE o.id IS NULL OR a.id IS NULL`); n != 0 {
		t.Fatalf("%d orders and audit rows do not match", n)
	}
}

func TestClientThatHangsUpFindsItsOrderOnRetry(t *testing.T) {
	r := newRig(t)
	slow, quick := r.slowAndQuick(250 * time.Millisecond)
	c := call{keys: newKey()}
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := r.try(ctx, slow, c)
		gone <- err
	}()
	r.eventually("claim", func() bool { return r.count(recordsOf, c.keys[0]) == 1 })
	hangUp()
	if err := <-gone; err == nil {
		t.Fatal("the client got an answer before it hung up")
	}
	r.eventually("completion", func() bool { return r.count(inState, c.keys[0], "completed") == 1 })
	if p := r.do(quick, c); p.header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("retry after a hang-up: %v", p)
	}
	r.wantRows(c.keys[0], 1, 1, 1)
}
