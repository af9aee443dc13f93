package orderserver_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

// The tests of this file go through contract section 4 row by row.

func TestWithoutHeaderEveryRequestExecutes(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	for range 2 {
		r.want(r.do(url, call{}), 201, "")
	}
	if n := r.count(`SELECT count(*) FROM paper_orders`); n != 2 {
		t.Fatalf("%d orders, want 2", n)
	}
	if n := r.count(`SELECT count(*) FROM idempotency_keys`); n != 0 {
		t.Fatalf("%d records, want none", n)
	}
}

func TestMalformedKeyIsRefusedWithoutATrace(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := uuid.NewString()
	for name, keys := range map[string][]string{
		"word":    {"order-17"},
		"empty":   {""},
		"twice":   {key, key},
		"urn":     {"urn:uuid:" + key},
		"braces":  {"{" + key + "}"},
		"compact": {strings.ReplaceAll(key, "-", "")},
		"no hex":  {"g" + key[1:]},
	} {
		t.Run(name, func(t *testing.T) {
			r.want(r.do(url, call{keys: keys}), 400, "Idempotency-Key must be a UUID string")
		})
	}
	if n := r.count(`SELECT (SELECT count(*) FROM idempotency_keys) + (SELECT count(*) FROM paper_orders)`); n != 0 {
		t.Fatalf("%d rows left by malformed keys", n)
	}
}

func TestCompletedKeyIsReplayed(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := uuid.NewString()
	first := r.order(url, key)
	r.want(first, 201, "")
	again := r.do(url, call{
		keys: []string{strings.ToUpper(key)},
		body: `{ "type":"market", "quantity":1, "side":"b\u0075y", "symbol":"AAPL" }`,
	})
	r.want(again, 201, "")
	if again.header.Get("Idempotency-Replayed") != "true" || again.body["idempotency_replayed"] != true {
		t.Fatalf("replay without its marks: %v %v", again.header, again)
	}
	delete(again.body, "idempotency_replayed")
	for name, value := range first.body {
		if again.body[name] != value || len(again.body) != len(first.body) {
			t.Fatalf("replay %v differs from %v", again.body, first.body)
		}
	}
	r.wantRows(key, 1, 1, 1)
	sql := `SELECT count(*) FROM audit_log a JOIN idempotency_keys k USING (idem_key, request_hash, response_code)
		WHERE a.action = 'idempotency_replay' AND a.user_id = k.scope_user_id AND a.endpoint = k.scope_endpoint`
	if r.count(sql) != 1 {
		t.Fatal("the replay's audit row has not the original hash and code")
	}
}

func TestFailedKeyStaysFailed(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	for name, c := range map[string]struct {
		body, code string
		status     int
	}{
		"cash":     {`{"symbol":"AAPL","side":"buy","quantity":1000000,"type":"market"}`, "insufficient_cash", 402},
		"position": {`{"symbol":"NONE","side":"sell","quantity":1,"type":"market"}`, "insufficient_position", 422},
		"field":    {`{"symbol":"AAPL","side":"buy","quantity":1.0,"type":"market"}`, "invalid_field", 400},
		"unknown":  {`{"symbol":"AAPL","side":"buy","quantity":1,"type":"market","qty":2}`, "unknown_field", 400},
		"missing":  {`{"side":"buy","quantity":1,"type":"market"}`, "missing_field", 400},
	} {
		t.Run(name, func(t *testing.T) {
			key := newKey()
			r.want(r.do(url, call{keys: key, body: c.body}), c.status, c.code)
			r.want(r.do(url, call{keys: key, body: c.body}), 409, "idempotency_previous_failed")
			r.want(r.do(url, call{keys: key}), 422, "idempotency_key_body_mismatch")
			r.wantRows(key[0], 0, 0, 1)
			if r.count(inState, key[0], "failed") != 1 {
				t.Fatal("the record is not failed")
			}
		})
	}
	if r.count(`SELECT count(*) FROM accounts WHERE cash_balance <> 1000000`) != 0 {
		t.Fatal("a refused order moved cash")
	}
}

func TestOtherRequestUnderAUsedKeyIsAMismatch(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := uuid.NewString()
	r.order(url, key)
	for _, body := range []string{
		`{"symbol":"AAPL","side":"buy","quantity":2,"type":"market"}`,
		`{"symbol":"AAPL","side":"buy","quantity":1,"type":"market","client_note":null}`,
		`{"symbol":"AAPL","side":"buy","quantity":1.0,"type":"market"}`,
	} {
		r.want(r.do(url, call{keys: []string{key}, body: body}), 422, "idempotency_key_body_mismatch")
	}
	r.wantRows(key, 1, 0, 1)
}

func TestKeyInFlight(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := uuid.NewString()
	r.order(url, key)
	r.exec(`UPDATE idempotency_keys SET status = 'in_flight', locked_at = NOW() - INTERVAL '29 seconds'`)
	p := r.order(url, key)
	r.want(p, 409, "idempotency_in_flight")
	if p.body["retry_after_ms"] != 5000.0 || p.header.Get("Retry-After") != "5" {
		t.Fatalf("in flight without its delay: %v %v", p.header, p)
	}
}

func TestStaleKeyIsRetiredOnceThenClaimedAfresh(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := uuid.NewString()
	r.order(url, key)
	r.exec(`UPDATE idempotency_keys SET status = 'in_flight', locked_at = NOW() - INTERVAL '31 seconds'`)
	p := r.order(url, key)
	r.want(p, 409, "idempotency_previous_failed")
	if p.body["reason"] != "stale_in_flight" || !strings.Contains(r.log.String(), "stale claim retired") {
		t.Fatalf("stale without its reason, or without a warning: %v", p)
	}
	r.want(r.order(url, key), 201, "")
	r.wantRows(key, 2, 0, 1) // the order of before the record was tampered with, and the fresh one
}

func TestExpiredKeyIsClaimedAfresh(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := uuid.NewString()
	r.order(url, key)
	r.exec(`UPDATE idempotency_keys SET expires_at = NOW() - INTERVAL '1 second'`)
	p := r.do(url, call{keys: []string{key}, body: `{"symbol":"MSFT","side":"buy","quantity":1,"type":"market"}`})
	r.want(p, 201, "")
	r.wantRows(key, 2, 0, 1)
}

func TestNothingIsClaimedBeforeTheRequestIsFit(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	service := r.seed.ServiceToken
	for name, c := range map[string]struct {
		call
		status int
		code   string
	}{
		"bad session":  {call{token: "st_u1_guess"}, 401, "unauthorized"},
		"service":      {call{token: service}, 403, "user_required"},
		"large body":   {call{body: `{"client_note":"` + strings.Repeat("x", 1<<20) + `"}`}, 413, "body_too_large"},
		"not JSON":     {call{body: `{"symbol":`}, 400, "body_must_be_json_object"},
		"an array":     {call{body: `[]`}, 400, "body_must_be_json_object"},
		"two objects":  {call{body: `{}{}`}, 400, "body_must_be_json_object"},
		"no body":      {call{path: "/api/trading/orders"}, 400, "body_must_be_json_object"},
		"unknown type": {call{body: `{"symbol":"AAPL","side":"buy","quantity":1,"type":"stop"}`}, 400, "unknown_order_type"},
	} {
		t.Run(name, func(t *testing.T) {
			c.keys = newKey()
			if name == "no body" {
				c.body = " "
			}
			r.want(r.do(url, c.call), c.status, c.code)
			r.wantRows(c.keys[0], 0, 0, 0)
		})
	}
}

func TestScopesDoNotMeet(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := newKey()
	r.want(r.do(url, call{keys: key}), 201, "")
	other := r.do(url, call{keys: key, token: r.seed.Users[1].Token})
	closed := r.do(url, call{keys: key, path: "/api/trading/positions/1/close"})
	for _, p := range []reply{other, closed} {
		r.want(p, 201, "")
		if p.header.Get("Idempotency-Replayed") != "" {
			t.Fatalf("answered from another scope: %v", p)
		}
	}
	r.want(r.do(url, call{keys: key, path: "/api/trading/positions/2/close"}), 422, "idempotency_key_body_mismatch")
	r.wantRows(key[0], 3, 0, 3)
}

func TestRecordLivesForItsEndpointsTTL(t *testing.T) {
	r := newRig(t)
	url := r.serve(func(c *orderserver.Config) { c.ProviderURL = newProvider(t).url })
	key := newKey()
	r.want(r.do(url, call{keys: key}), 201, "")
	r.want(r.do(url, call{keys: key, path: "/api/billing/checkout", body: `{"plan":"pro","amount_cents":1999}`}), 201, "")
	for endpoint, hours := range map[string]int{orderserver.OrdersEndpoint: 24, orderserver.CheckoutEndpoint: 7 * 24} {
		sql := `SELECT count(*) FROM idempotency_keys WHERE scope_endpoint = $1 AND expires_at - created_at = make_interval(hours => $2)`
		if r.count(sql, endpoint, hours) != 1 {
			t.Errorf("records of %s do not live for %d h", endpoint, hours)
		}
	}
}
