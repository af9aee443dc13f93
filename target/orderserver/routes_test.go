package orderserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

// provider stands in for the payment provider.
type provider struct {
	url    string
	mu     sync.Mutex
	keys   []string
	ops    []string
	status int
}

func newProvider(t *testing.T) *provider {
	p := &provider{status: http.StatusCreated}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.keys = append(p.keys, r.Header.Get("Idempotency-Key"))
		p.ops = append(p.ops, r.Header.Get("Idemstorm-Operation"))
		w.WriteHeader(p.status)
		_ = json.NewEncoder(w).Encode(map[string]any{"id": fmt.Sprintf("ch_%d", len(p.keys))})
	}))
	t.Cleanup(web.Close)
	p.url = web.URL
	return p
}

func TestCheckoutForwardsKeyAndTrace(t *testing.T) {
	r, p := newRig(t), newProvider(t)
	url := r.serve(func(c *orderserver.Config) { c.ProviderURL = p.url })
	key := newKey()
	c := call{
		path: "/api/billing/checkout", body: `{"plan":"pro","amount_cents":1999}`, keys: key,
		header: http.Header{"Idemstorm-Operation": {"op-17"}},
	}
	r.want(r.do(url, c), 201, "")
	r.want(r.do(url, c), 201, "")
	if len(p.keys) != 1 || p.keys[0] != key[0] || p.ops[0] != "op-17" {
		t.Fatalf("provider saw keys %v, operations %v", p.keys, p.ops)
	}
	if r.count(`SELECT count(*) FROM checkouts c JOIN audit_log a USING (execution_id) WHERE a.action = 'checkout'`) != 1 {
		t.Fatal("no one checkout with its audit row")
	}
}

func TestProviderFailureFailsTheCheckout(t *testing.T) {
	r, p := newRig(t), newProvider(t)
	url := r.serve(func(c *orderserver.Config) { c.ProviderURL = p.url })
	p.status = http.StatusInternalServerError
	c := call{path: "/api/billing/checkout", body: `{"plan":"pro","amount_cents":1999}`, keys: newKey()}
	r.want(r.do(url, c), 502, "provider_failed")
	r.want(r.do(url, c), 409, "idempotency_previous_failed")
	if r.count(`SELECT count(*) FROM checkouts`) != 0 {
		t.Fatal("a failed charge left a checkout")
	}
}

func TestCheckoutWithoutProviderIsUnavailable(t *testing.T) {
	r := newRig(t)
	p := r.do(r.serve(nil), call{path: "/api/billing/checkout", body: `{"plan":"pro","amount_cents":1999}`})
	r.want(p, 503, "provider_not_configured")
}

func TestLimitOrderRestsUntilCancelled(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	p := r.do(url, call{body: `{"symbol":"AAPL","side":"buy","quantity":2,"type":"limit","limit_price":"0.50"}`})
	r.want(p, 201, "")
	if p.body["status"] != "open" || p.body["cash_balance"] != "1000000.00" {
		t.Fatalf("resting order: %v", p)
	}
	path := fmt.Sprintf("/api/trading/orders/%v", p.body["order_id"])
	for range 2 {
		c := r.do(url, call{method: "DELETE", path: path})
		if c.status != 200 || c.body["status"] != "cancelled" {
			t.Fatalf("cancel: %v", c)
		}
	}
	r.want(r.do(url, call{method: "DELETE", path: path, token: r.seed.Users[1].Token}), 404, "no_such_order")
	crossing := r.do(url, call{body: `{"symbol":"AAPL","side":"buy","quantity":2,"type":"limit","limit_price":"100000"}`})
	if crossing.body["status"] != "filled" {
		t.Fatalf("crossing order: %v", crossing)
	}
}

func TestPositionClosesOnce(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	path := "/api/trading/positions/1/close"
	r.want(r.do(url, call{path: path, token: r.seed.Users[1].Token, keys: newKey()}), 404, "no_such_position")
	r.want(r.do(url, call{path: path, keys: newKey()}), 201, "")
	key := newKey()
	r.want(r.do(url, call{path: path, keys: key}), 404, "no_such_position")
	r.want(r.do(url, call{path: path, keys: key}), 409, "idempotency_previous_failed")
	r.wantConserved()
}

func TestRollIsTwoLegsInOneExecution(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	c := call{path: "/api/trading/lcc/2/roll", body: `{"symbol":"NEXT","quantity":4}`, keys: newKey()}
	r.want(r.do(url, c), 201, "")
	r.want(r.do(url, c), 201, "")
	sql := `SELECT count(*) FROM (SELECT execution_id FROM paper_orders GROUP BY execution_id
		HAVING array_agg(leg ORDER BY leg) = '{1,2}' AND array_agg(side ORDER BY leg) = '{sell,buy}') e`
	if r.count(sql) != 1 || r.count(`SELECT count(*) FROM paper_orders`) != 2 {
		t.Fatal("a roll is not two legs of one execution")
	}
	costly := call{path: "/api/trading/lcc/3/roll", body: `{"symbol":"NEXT","quantity":100000000}`, keys: newKey()}
	r.want(r.do(url, costly), 402, "insufficient_cash")
	if r.count(`SELECT count(*) FROM positions WHERE id = 3`) != 1 {
		t.Fatal("a refused roll closed its position")
	}
	r.wantConserved()
}

// wantConserved compares cash and positions with the sum of the orders.
func (r *rig) wantConserved() {
	r.t.Helper()
	cash := `SELECT count(*) FROM accounts a
		WHERE cash_balance <> 1000000 + COALESCE((SELECT sum(amount) FROM paper_orders o WHERE o.user_id = a.user_id), 0)`
	held := `SELECT (SELECT sum(quantity) FROM positions) - 10 * $1::int
		- COALESCE((SELECT sum(CASE side WHEN 'buy' THEN quantity ELSE -quantity END) FROM paper_orders WHERE status = 'filled'), 0)`
	if n := r.count(cash); n != 0 {
		r.t.Fatalf("%d accounts do not equal the sum of their orders", n)
	}
	if n := r.count(held, usersOfRig*positionsOfRig); n != 0 {
		r.t.Fatalf("positions differ from the sum of the orders by %d", n)
	}
}

func TestAccountUpdateIsNeverStoredAndRunsAgain(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	c := call{method: "PATCH", path: "/api/account", body: `{"name":"Zoe","phone":"+1"}`, keys: newKey()}
	for range 2 {
		p := r.do(url, c)
		r.want(p, 200, "")
		if p.body["name"] != "Zoe" || p.header.Get("Idempotency-Replayed") != "" {
			t.Fatalf("account update: %v", p)
		}
	}
	if r.count(`SELECT count(*) FROM idempotency_keys WHERE response_body IS NULL AND status = 'completed'`) != 1 {
		t.Fatal("the answer of an account update was stored")
	}
	if r.count(auditsOf, c.keys[0]) != 2 {
		t.Fatal("a retry did not run again")
	}
	other := c
	other.body = `{"name":"Ann"}`
	r.want(r.do(url, other), 422, "idempotency_key_body_mismatch")
	r.exec(`UPDATE idempotency_keys SET status = 'in_flight', locked_at = NOW()`)
	r.want(r.do(url, c), 409, "idempotency_in_flight")
	taken := call{method: "PATCH", path: "/api/account", body: `{"email":"U2@example.test"}`}
	r.want(r.do(url, taken), 422, "email_taken")
}

func TestServiceCallsAreClaimedNotDeduplicated(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	c := call{path: "/api/waitlist/signup", body: `{"email":"A@b.test"}`, keys: newKey(), token: r.seed.ServiceToken}
	for range 2 {
		r.want(r.do(url, c), 202, "")
	}
	c.token = ""
	r.want(r.do(url, c), 202, "")
	if r.count(recordsOf, c.keys[0]) != 2 || r.count(`SELECT count(*) FROM waitlist_signups`) != 1 {
		t.Fatal("want two claims of the service, none of the user, one signup")
	}
}

func TestWebhookIsProcessedOnceByItsOwnID(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	c := call{path: "/api/billing/webhooks/provider", body: `{"event_id":"e1","type":"paid","more":1}`, token: r.seed.ServiceToken}
	for _, status := range []string{"processed", "already_processed"} {
		if p := r.do(url, c); p.status != 200 || p.body["status"] != status {
			t.Fatalf("webhook: %v, want %s", p, status)
		}
	}
	c.token = ""
	r.want(r.do(url, c), 403, "service_required")
}

func TestGateClosesOrderRoutesBeforeClaimAndReplay(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	used, fresh := newKey(), newKey()
	r.want(r.do(url, call{keys: used}), 201, "")
	r.setFlags(url, `{"new_orders_disabled":true}`)
	r.want(r.do(url, call{keys: used}), 503, "new_orders_disabled")
	r.want(r.do(url, call{keys: fresh}), 503, "new_orders_disabled")
	r.want(r.do(url, call{keys: fresh, path: "/api/trading/positions/1/close"}), 503, "new_orders_disabled")
	r.wantRows(fresh[0], 0, 0, 0)
	r.wantRows(used[0], 1, 0, 1)
	r.setFlags(url, `{"new_orders_disabled":false}`)
	r.want(r.do(url, call{keys: fresh}), 201, "")
}

func (r *rig) setFlags(url, flags string) {
	r.t.Helper()
	p := r.do(url, call{method: "PUT", path: "/admin/flags", body: flags, token: "admin-token-of-tests"})
	if p.status != 200 {
		r.t.Fatalf("set flags %s: %v", flags, p)
	}
}

func TestKillSwitchPassesThroughAtOnce(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := newKey()
	r.want(r.do(url, call{keys: key}), 201, "")
	r.setFlags(url, `{"idempotency_middleware":false}`)
	for range 2 {
		p := r.do(url, call{keys: key})
		r.want(p, 201, "")
		if p.header.Get("Idempotency-Replayed") != "" {
			t.Fatal("replayed although the middleware is off")
		}
	}
	r.want(r.do(url, call{keys: []string{"nonsense"}}), 201, "")
	r.setFlags(url, `{"idempotency_middleware":true}`)
	if p := r.do(url, call{keys: key}); p.header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("not replayed although the middleware is on again: %v", p)
	}
}

func TestAdminRouteKnowsItsToken(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	r.want(r.do(url, call{method: "PUT", path: "/admin/flags", body: `{}`}), 401, "unauthorized")
	r.want(r.do(url, call{method: "PUT", path: "/admin/flags", body: `{"x":1}`, token: "admin-token-of-tests"}), 400, "invalid_flags")
	bare := r.serve(func(c *orderserver.Config) { c.AdminToken = "" })
	if p := r.do(bare, call{method: "GET", path: "/admin/flags"}); p.status != 404 {
		t.Fatalf("admin route without a token: %v", p)
	}
}

func TestCountersEqualTheHistory(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := newKey()
	for range 3 {
		r.do(url, call{keys: key})
	}
	r.do(url, call{keys: key, body: `{}`})
	metrics := r.do(url, call{method: "GET", path: "/metrics"}).raw
	for name, n := range map[string]int{"miss": 1, "hit": 3, "replay": 2, "mismatch": 1, "in_flight": 0, "stale": 0, "store_unavailable": 0} {
		line := fmt.Sprintf("idempotency_%s_total{endpoint=%q} %d\n", name, orderserver.OrdersEndpoint, n)
		if !strings.Contains(metrics, line) {
			t.Errorf("metrics lack %s", line)
		}
	}
	for path := range map[string]bool{"/healthz": true, "/readyz": true} {
		if p := r.do(url, call{method: "GET", path: path}); p.status != 200 {
			t.Errorf("%s: %v", path, p)
		}
	}
}

func TestTraceReachesOrdersAuditAndLog(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	op := http.Header{"Idemstorm-Operation": {"run1:op.7"}}
	key := newKey()
	r.do(url, call{keys: key, header: op})
	r.do(url, call{keys: key, header: op})
	if r.count(`SELECT count(*) FROM paper_orders WHERE operation_id = 'run1:op.7'`) != 1 ||
		r.count(`SELECT count(*) FROM audit_log WHERE operation_id = 'run1:op.7'`) != 2 {
		t.Fatal("the operation is not in orders and audit rows")
	}
	r.do(url, call{header: http.Header{"Idemstorm-Operation": {"no spaces please"}}})
	if r.count(`SELECT count(*) FROM paper_orders WHERE operation_id IS NULL`) != 1 {
		t.Fatal("an operation id of the wrong form was kept")
	}
}

func TestLogAndRecordsHoldNoCredentials(t *testing.T) {
	r := newRig(t)
	url := r.serve(func(c *orderserver.Config) {
		c.StoreURL = "postgres://u:pa55word@127.0.0.1:1/none?sslmode=disable"
	})
	r.want(r.do(url, call{keys: newKey()}), 503, "idempotency_store_unavailable")
	log := r.log.String()
	if log == "" {
		t.Fatal("an outage was not logged")
	}
	for _, secret := range []string{"pa55word", r.seed.Users[0].Token, "admin-token-of-tests"} {
		if strings.Contains(log, secret) {
			t.Fatalf("the log holds %q:\n%s", secret, log)
		}
	}
}
