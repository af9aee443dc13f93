package zoo

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/claimtest"
	"github.com/idemstorm/idemstorm/target/orderserver"
)

// differs says what one client, asking one request after the other, can tell of a variant: all others pass every test of
// that kind, which is why they are shipped.
var differs = map[string][]string{
	"no-body-hash":             {"mismatch", "rows"},
	"hash-in-lookup-key":       {"mismatch", "rows"},
	"failure-frees-key":        {"failed"},
	"status-code-lost":         {"replay"},
	"marker-missing":           {"replay"},
	"no-replay-audit":          {"rows"},
	"business-audit-on-replay": {"rows"},
}

func TestVariantsLookLikeTheReferenceToOneClient(t *testing.T) {
	t.Setenv(RedisAddressVariable, claimtest.Redis(t))
	for i, v := range append(All, Variant{Name: "reference"}) {
		t.Run(v.Name, func(t *testing.T) {
			c := newClient(t, fmt.Sprintf("sequential%d", i), v)
			if got := c.differences(); !slices.Equal(got, differs[v.Name]) {
				t.Errorf("differs from the reference in %q, want %q", got, differs[v.Name])
			}
		})
	}
}

// client speaks to one replica of a variant as one user.
type client struct {
	t          *testing.T
	db         *pgx.Conn
	url, token string
}

func newClient(t *testing.T, database string, v Variant) *client {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), cluster.DSN("postgres"))
	must(t, err)
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+database+" TEMPLATE "+template)
	must(t, err)
	must(t, admin.Close(t.Context()))
	db, err := pgx.Connect(t.Context(), cluster.DSN(database))
	must(t, err)
	t.Cleanup(func() { _ = db.Close(t.Context()) })
	seed, err := orderserver.Seed(t.Context(), db, orderserver.SeedSpec{Users: 1, Cash: "1000000.00"})
	must(t, err)
	server, err := orderserver.New(t.Context(), orderserver.Config{
		DatabaseURL: cluster.DSN(database), RequestDeadline: 20 * time.Second, Parts: v.Parts, Prepare: v.Prepare,
	})
	must(t, err)
	web := httptest.NewServer(server.Handler())
	t.Cleanup(func() { web.Close(); server.Close() })
	return &client{t: t, db: db, url: web.URL, token: seed.Users[0].Token}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// differences are the parts of a client's day that go otherwise than the contract says.
func (c *client) differences() (list []string) {
	expect := func(what string, ok bool) {
		if !ok && !slices.Contains(list, what) {
			list = append(list, what)
		}
	}
	key := uuid.NewString()
	first := c.order(key, 1)
	expect("fresh", first.status == http.StatusCreated && !first.marked && first.fields["idempotency_replayed"] == nil)
	for range 2 {
		again := c.order(key, 1)
		expect("replay", again.status == http.StatusCreated && again.marked && again.fields["idempotency_replayed"] == true &&
			again.fields["execution_id"] == first.fields["execution_id"])
	}
	expect("mismatch", c.order(key, 2).is(http.StatusUnprocessableEntity, "idempotency_key_body_mismatch"))
	expect("fresh", c.order(uuid.NewString(), 3).status == http.StatusCreated)
	refused := uuid.NewString()
	expect("refused", c.order(refused, 1_000_000_000).is(http.StatusPaymentRequired, "insufficient_cash"))
	expect("failed", c.order(refused, 1_000_000_000).is(http.StatusConflict, "idempotency_previous_failed"))
	expect("rows", c.rows(key) == "1 order, 1 business audit row, 2 replays, 1 record")
	return list
}

type answer struct {
	status int
	marked bool
	fields map[string]any
}

func (a answer) is(status int, code string) bool {
	return a.status == status && a.fields["error"] == code
}

func (c *client) order(key string, quantity int) (a answer) {
	c.t.Helper()
	body := fmt.Sprintf(`{"symbol":"AAPL","side":"buy","quantity":%d,"type":"market"}`, quantity)
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url+"/api/trading/orders", strings.NewReader(body))
	must(c.t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	must(c.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	must(c.t, err)
	must(c.t, json.Unmarshal(raw, &a.fields))
	a.status, a.marked = resp.StatusCode, resp.Header.Get("Idempotency-Replayed") == "true"
	return a
}

const rowsSQL = `
SELECT (SELECT count(*) FROM paper_orders WHERE idem_key = $1),
       (SELECT count(*) FROM audit_log WHERE idem_key = $1 AND action = 'order_placed'),
       (SELECT count(*) FROM audit_log WHERE idem_key = $1 AND action = 'idempotency_replay'),
       (SELECT count(*) FROM idempotency_keys WHERE idem_key = $1 AND status = 'completed')`

func (c *client) rows(key string) string {
	c.t.Helper()
	var orders, audits, replays, records int
	must(c.t, c.db.QueryRow(c.t.Context(), rowsSQL, key).Scan(&orders, &audits, &replays, &records))
	return fmt.Sprintf("%d order, %d business audit row, %d replays, %d record", orders, audits, replays, records)
}
