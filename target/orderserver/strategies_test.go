package orderserver_test

import (
	"testing"

	"github.com/idemstorm/idemstorm/target/claimtest"
	"github.com/idemstorm/idemstorm/target/idempotency"
	"github.com/idemstorm/idemstorm/target/orderserver"
)

// eachStrategy runs a test against two replicas that claim by the same strategy, for every strategy there is.
func eachStrategy(t *testing.T, hold func(r *rig, a, b string)) {
	redis := claimtest.Redis(t)
	for _, s := range idempotency.Strategies {
		t.Run(s.Name, func(t *testing.T) {
			r := newRig(t)
			claim := func(c *orderserver.Config) {
				c.Strategy = s
				if s.Redis {
					c.RedisAddr = redis
				}
			}
			hold(r, r.serve(claim), r.serve(claim))
		})
	}
}

func TestEveryStrategyLetsOneOfManyDuplicatesExecute(t *testing.T) {
	eachStrategy(t, func(r *rig, a, b string) {
		key := newKey()
		fresh, replays := 0, 0
		for _, p := range r.storm(64, call{keys: key}, a, b) {
			switch {
			case p.status == 201 && p.header.Get("Idempotency-Replayed") == "true":
				replays++
			case p.status == 201:
				fresh++
			default:
				r.want(p, 409, "idempotency_in_flight")
			}
		}
		if fresh != 1 {
			r.t.Errorf("%d fresh answers", fresh)
		}
		r.wantRows(key[0], fresh, replays, 1)
		r.wantConserved()
	})
}

func TestEveryStrategyAnswersAKeyThatHasEndedAsTheContractSays(t *testing.T) {
	eachStrategy(t, func(r *rig, a, b string) {
		key := newKey()
		first, again := r.do(a, call{keys: key}), r.do(b, call{keys: key})
		if first.status != 201 || again.status != 201 || again.header.Get("Idempotency-Replayed") != "true" || first.body["id"] != again.body["id"] {
			r.t.Errorf("first %v, again %v", first, again)
		}
		r.want(r.do(a, call{keys: key, body: `{"symbol":"AAPL","side":"buy","quantity":2,"type":"market"}`}), 422, "idempotency_key_body_mismatch")
		r.wantRows(key[0], 1, 1, 1)

		if p := r.do(b, call{keys: key, token: r.seed.Users[1].Token}); p.status != 201 || p.header.Get("Idempotency-Replayed") != "" {
			r.t.Errorf("another user with the same key: %v", p)
		}
		refused := call{keys: newKey(), body: `{"symbol":"NONE","side":"sell","quantity":1,"type":"market"}`}
		r.want(r.do(a, refused), 422, "insufficient_position")
		r.want(r.do(b, refused), 409, "idempotency_previous_failed")
		r.wantConserved()
	})
}

func TestEveryStrategyHasACompletedRecordForEachKeyAfterAStorm(t *testing.T) {
	eachStrategy(t, func(r *rig, a, b string) {
		keys := make([][]string, 8)
		for i := range keys {
			keys[i] = newKey()
			r.storm(8, call{keys: keys[i]}, a, b)
		}
		for _, key := range keys {
			if p := r.do(a, call{keys: key}); p.status != 201 || p.header.Get("Idempotency-Replayed") != "true" {
				r.t.Errorf("after the storm: %v", p)
			}
		}
		if n := r.count(`SELECT count(*) FROM paper_orders`); n != len(keys) {
			r.t.Errorf("%d orders of %d keys", n, len(keys))
		}
		if n := r.count(`SELECT count(*) FROM idempotency_keys WHERE status <> 'completed'`); n != 0 {
			r.t.Errorf("%d records are left that are not completed", n)
		}
	})
}
