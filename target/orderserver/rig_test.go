package orderserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

var databases atomic.Int64

// rig is a seeded database, servers on it, and clients of theirs.
type rig struct {
	t    *testing.T
	dsn  string
	db   *pgxpool.Pool
	seed orderserver.SeedResult
	log  *lockedBuffer
}

// lockedBuffer takes the log lines of concurrent requests.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const (
	usersOfRig     = 4
	positionsOfRig = 5
)

func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	r := &rig{t: t, log: &lockedBuffer{}}
	name := fmt.Sprintf("t%d", databases.Add(1))
	admin := must(pgx.Connect(t.Context(), cluster.DSN("postgres")))
	_, err := admin.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+template)
	must(0, err)
	must(0, admin.Close(t.Context()))
	r.dsn = cluster.DSN(name)
	conn := must(pgx.Connect(t.Context(), r.dsn))
	r.seed = must(orderserver.Seed(t.Context(), conn, orderserver.SeedSpec{
		Users: usersOfRig, Positions: positionsOfRig, Cash: "1000000.00", Seed: 7,
	}))
	must(0, conn.Close(t.Context()))
	r.db = must(pgxpool.New(t.Context(), r.dsn))
	t.Cleanup(r.db.Close)
	return r
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// patience is a deadline that nothing but a hang comes near, on a machine that is busy with other tests too.
const patience = 30 * time.Second

// serve starts one replica; change may be nil.
func (r *rig) serve(change func(*orderserver.Config)) string {
	r.t.Helper()
	cfg := orderserver.Config{
		DatabaseURL: r.dsn, PoolSize: 8, StorePoolSize: 8, AdminToken: "admin-token-of-tests", RequestDeadline: patience, ConnectTimeout: patience,
		Log: slog.New(slog.NewJSONHandler(r.log, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	server := must(orderserver.New(r.t.Context(), cfg))
	web := httptest.NewServer(server.Handler())
	r.t.Cleanup(func() { web.Close(); server.Close() })
	return web.URL
}

// call is one request; zero values mean an order of user 1 without a key.
type call struct {
	method, path, body, token string
	keys                      []string
	header                    http.Header
}

type reply struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

func (p reply) code() string { s, _ := p.body["error"].(string); return s }

func (p reply) String() string { return fmt.Sprintf("%d %s", p.status, p.raw) }

const someOrder = `{"symbol":"AAPL","side":"buy","quantity":1,"type":"market"}`

func (r *rig) do(url string, c call) reply {
	r.t.Helper()
	p, err := r.try(r.t.Context(), url, c)
	if err != nil {
		r.t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	return p
}

func (r *rig) try(ctx context.Context, url string, c call) (reply, error) {
	if c.method == "" {
		c.method = "POST"
	}
	if c.path == "" {
		c.path = "/api/trading/orders"
		if c.body == "" {
			c.body = someOrder
		}
	}
	req := must(http.NewRequestWithContext(ctx, c.method, url+c.path, strings.NewReader(c.body)))
	if c.token == "" {
		c.token = r.seed.Users[0].Token
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	for name, values := range c.header {
		req.Header[name] = values
	}
	req.Header["Idempotency-Key"] = c.keys
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	p := reply{status: resp.StatusCode, header: resp.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &p.body) // metrics are no JSON
	return p, err
}

func (r *rig) order(url, key string) reply {
	r.t.Helper()
	return r.do(url, call{keys: []string{key}})
}

func newKey() []string { return []string{uuid.NewString()} }

func (r *rig) count(sql string, args ...any) int {
	r.t.Helper()
	var n int
	if err := r.db.QueryRow(r.t.Context(), sql, args...).Scan(&n); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.db.Exec(r.t.Context(), sql, args...); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}

// eventually waits for a condition that another goroutine or process brings about.
func (r *rig) eventually(what string, holds func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s did not come about", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

const (
	ordersOf  = `SELECT count(*) FROM paper_orders WHERE idem_key = $1`
	auditsOf  = `SELECT count(*) FROM audit_log WHERE idem_key = $1 AND execution_id IS NOT NULL`
	replaysOf = `SELECT count(*) FROM audit_log WHERE idem_key = $1 AND action = 'idempotency_replay'`
	recordsOf = `SELECT count(*) FROM idempotency_keys WHERE idem_key = $1`
	inState   = `SELECT count(*) FROM idempotency_keys WHERE idem_key = $1 AND status = $2`
)

// want checks an answer's status and error code.
func (r *rig) want(p reply, status int, code string) {
	r.t.Helper()
	if p.status != status || p.code() != code {
		r.t.Fatalf("answer %v, want %d %q", p, status, code)
	}
}

// wantRows checks orders, business audit rows, replays and records of a key.
func (r *rig) wantRows(key string, orders, replays, records int) {
	r.t.Helper()
	got := [4]int{r.count(ordersOf, key), r.count(auditsOf, key), r.count(replaysOf, key), r.count(recordsOf, key)}
	if want := [4]int{orders, orders, replays, records}; got != want {
		r.t.Fatalf("orders, audits, replays, records: %v, want %v", got, want)
	}
}
