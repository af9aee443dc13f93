package orderserver_test

import (
	"testing"

	"github.com/idemstorm/idemstorm/target/claimtest"
	"github.com/idemstorm/idemstorm/target/idempotency"
	"github.com/idemstorm/idemstorm/target/orderserver"
)

// What a strategy promises is claimtest's business; here it is the server that is started with each.
func TestServerWithEveryStrategyLetsOneOfManyDuplicatesMoveMoney(t *testing.T) {
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
			r.oneOfManyMovesMoney(r.serve(claim), r.serve(claim))
		})
	}
}

func (r *rig) oneOfManyMovesMoney(a, b string) {
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
}
