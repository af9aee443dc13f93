package orderserver_test

import (
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

// twoClocks are two servers of one database, one an hour ahead and one an hour behind.
func (r *rig) twoClocks() []string {
	r.t.Helper()
	var urls []string
	for _, offset := range []time.Duration{time.Hour, -time.Hour} {
		urls = append(urls, r.serve(func(c *orderserver.Config) { c.ClockOffset = offset }))
	}
	return urls
}

// The claims are made by changing what an order has left, so that they are as old as the database says.
func TestAClaimsAgeIsJudgedByTheDatabasesClock(t *testing.T) {
	r := newRig(t)
	urls := r.twoClocks()
	for i, url := range urls {
		key := newKey()[0]
		r.want(r.order(url, key), 201, "")
		r.exec(`UPDATE idempotency_keys SET status = 'in_flight', response_code = NULL, response_body = NULL, locked_at = NOW() WHERE idem_key = $1`, key)
		for _, asked := range urls {
			r.want(r.order(asked, key), 409, "idempotency_in_flight")
		}
		r.exec(`UPDATE idempotency_keys SET locked_at = NOW() - INTERVAL '31 seconds' WHERE idem_key = $1`, key)
		if p := r.order(url, key); p.code() != "idempotency_previous_failed" || p.body["reason"] != "stale_in_flight" {
			t.Errorf("server %d: a claim of 31 s: %v", i+1, p)
		}
	}
}

const lifeOf = `SELECT EXTRACT(EPOCH FROM expires_at - created_at)::int FROM idempotency_keys WHERE idem_key = $1`

func TestARecordsLifeIsThatOfTheDatabasesClock(t *testing.T) {
	r := newRig(t)
	for i, url := range r.twoClocks() {
		key := newKey()[0]
		r.want(r.order(url, key), 201, "")
		if life := r.count(lifeOf, key); life != 24*60*60 {
			t.Errorf("server %d: a life of %d s", i+1, life)
		}
		r.exec(`UPDATE idempotency_keys SET expires_at = NOW() + INTERVAL '5 minutes' WHERE idem_key = $1`, key)
		if p := r.order(url, key); p.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("server %d: a record with five minutes left: %v", i+1, p)
		}
		r.exec(`UPDATE idempotency_keys SET expires_at = NOW() - INTERVAL '1 second' WHERE idem_key = $1`, key)
		if p := r.order(url, key); p.status != 201 || p.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("server %d: a record that has expired: %v", i+1, p)
		}
	}
}

func TestTheAdminRouteSetsTheClock(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	set := func(body, token string) reply {
		return r.do(url, call{method: "PUT", path: "/admin/clock", body: body, token: token})
	}
	r.want(set(`{"offset":"1h"}`, ""), 401, "unauthorized")
	for _, bad := range []string{`{"offset":"tomorrow"}`, `{}`, `[]`} {
		r.want(set(bad, "admin-token-of-tests"), 400, "invalid_clock")
	}
	if p := set(`{"offset":"-90s"}`, "admin-token-of-tests"); p.status != 200 || p.body["offset"] != "-1m30s" {
		t.Fatalf("%v", p)
	}
	if p := r.do(url, call{method: "GET", path: "/admin/clock", token: "admin-token-of-tests"}); p.body["offset"] != "-1m30s" {
		t.Fatalf("%v", p)
	}
}
