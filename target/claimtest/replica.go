package claimtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// options say how a replica differs from a right one that has all the time there is.
type options struct {
	staleAfter time.Duration // 0: an hour
	deadline   time.Duration // of a request; 0: patience
	isolation  string
	conns      int32   // of each pool; 0: enough
	net        *cutter // between the replica and its stores
	storeDSN   string  // "" is the rig's
	redis      string  // "" is the rig's
	readOnly   bool    // the key store
}

// replica is a middleware with the strategy under test, on pools of its own.
type replica struct {
	*rig
	name    string // of its sessions in the database
	store   *pgxpool.Pool
	redis   *redis.Client
	claimer idempotency.Claimer
	routes  map[string]http.Handler
}

// The endpoints; each is a scope of keys.
const (
	closed    = "POST /claimtest/closed" // tier 1
	alsoThere = "POST /claimtest/also"   // tier 1
	open      = "POST /claimtest/open"   // tier 2
	private   = "POST /claimtest/private"
)

var endpoints = map[string]idempotency.Route{
	closed:    {Tier: idempotency.FailClosed},
	alsoThere: {Tier: idempotency.FailClosed},
	open:      {Tier: idempotency.FailOpen},
	private:   {Tier: idempotency.FailOpen, NoReplay: true},
}

func (r *rig) replica(o options) *replica {
	r.Helper()
	p := &replica{rig: r, name: sessionName(), routes: map[string]http.Handler{}}
	business := r.pool(r.on.DSN, p.config(o, false))
	p.store = r.pool(orElse(o.storeDSN, r.on.DSN), p.config(o, true))
	p.openRedis(o)
	stale := orElse(o.staleAfter, time.Hour)
	parts := idempotency.Reference(business, p.store, stale)
	p.claimer = r.strategy.New(idempotency.Stores{Pool: p.store, Redis: p.redis, StaleAfter: stale})
	parts.Claimer = p.claimer
	mw, err := idempotency.New(parts, idempotency.Options{
		Identify: identify, RequestDeadline: orElse(o.deadline, patience), ActionAllowance: patience, // a short deadline is the store's alone
	})
	must(r, err)
	for endpoint, route := range endpoints {
		route.Endpoint, route.TTL, route.Action = endpoint, time.Hour, act
		p.routes[endpoint] = mw.Handler(route)
	}
	return p
}

var sessions atomic.Int64

// sessionName is no other replica's, though other processes try strategies on the same database.
func sessionName() string { return fmt.Sprintf("claimtest-%d-%d", os.Getpid(), sessions.Add(1)) }

func orElse[T comparable](value, byDefault T) T {
	var zero T
	if value == zero {
		return byDefault
	}
	return value
}

// config names the replica's sessions and puts the replica behind its net.
func (p *replica) config(o options, store bool) func(*pgxpool.Config) {
	return func(cfg *pgxpool.Config) {
		cfg.MaxConns = orElse(o.conns, cfg.MaxConns)
		params := cfg.ConnConfig.RuntimeParams
		params["application_name"] = p.name
		if o.isolation != "" {
			params["default_transaction_isolation"] = o.isolation
		}
		if o.readOnly && store {
			params["default_transaction_read_only"] = "on"
		}
		if o.net != nil {
			cfg.ConnConfig.DialFunc = o.net.dial
		}
	}
}

func (p *replica) openRedis(o options) {
	if !p.strategy.Redis {
		return
	}
	opts := &redis.Options{Addr: orElse(o.redis, p.on.Redis), ContextTimeoutEnabled: true, DisableIdentity: true}
	if o.net != nil {
		opts.Dialer = o.net.dial
	}
	p.redis = redis.NewClient(opts)
	p.Cleanup(func() { _ = p.redis.Close() }) // every request has ended
}

const userHeader = "X-User"

func identify(_ context.Context, r *http.Request) (idempotency.Identity, error) {
	user, err := strconv.Atoi(r.Header.Get(userHeader))
	if err != nil {
		return idempotency.Identity{}, nil // a service
	}
	id := int32(user)
	return idempotency.Identity{UserID: &id}, nil
}

// call is one request; zero values mean the first user's, with some body, to the tier 1 endpoint, with a plain action.
type call struct {
	key      string
	body     string
	user     int32
	service  bool
	endpoint string
	work     *work
}

// fresh is a call under a key that nobody has used.
func fresh() call { return call{key: uuid.NewString()} }

// answer is what a client sees.
type answer struct {
	status   int
	replayed bool // by the header
	raw      []byte
	body     map[string]any // numbers as they were written
}

func (a answer) String() string {
	return fmt.Sprintf("%d (replayed: %t) %s", a.status, a.replayed, a.raw)
}

func (a answer) text(name string) string { s, _ := a.body[name].(string); return s }

// isFresh says whether the client was told of an execution by its own request.
func (a answer) isFresh() bool { return a.status == http.StatusCreated && !a.replayed }

func (a answer) isReplay() bool { return a.status == http.StatusCreated && a.replayed }

func (a answer) isInFlight() bool {
	return a.status == 409 && a.text("error") == "idempotency_in_flight"
}

func (a answer) isStale() bool { return a.status == 409 && a.text("reason") == "stale_in_flight" }

func (a answer) isFailed() bool {
	return a.status == 409 && a.text("error") == "idempotency_previous_failed" && !a.isStale()
}

func (a answer) isMismatch() bool {
	return a.status == 422 && a.text("error") == "idempotency_key_body_mismatch"
}

// do sends a call and returns its answer.
func (p *replica) do(c call) answer {
	endpoint := orElse(c.endpoint, closed)
	req := httptest.NewRequest("POST", "/claimtest", bytes.NewReader([]byte(orElse(c.body, `{"quantity":1}`))))
	req.Header.Set(idempotency.KeyHeader, c.key)
	if !c.service {
		req.Header.Set(userHeader, fmt.Sprint(orElse(c.user, p.users[0])))
	}
	w := httptest.NewRecorder()
	p.routes[endpoint].ServeHTTP(w, req.WithContext(withWork(p.detached(), c.work)))
	a := answer{status: w.Code, replayed: w.Header().Get(idempotency.ReplayedHeader) == "true", raw: w.Body.Bytes()}
	decoder := json.NewDecoder(bytes.NewReader(a.raw))
	decoder.UseNumber()
	_ = decoder.Decode(&a.body) // an answer without an object has no fields
	return a
}

// want asks for an answer of a kind.
func (r *rig) want(what string, a answer, is func(answer) bool) {
	r.Helper()
	if !is(a) {
		r.Fatalf("answered %v, want %s", a, what)
	}
}

// wantReplayOf asks for the original's code and body by value, marker aside.
func (r *rig) wantReplayOf(original, a answer) {
	r.Helper()
	r.want("a replay", a, answer.isReplay)
	body := map[string]any{}
	for name, value := range a.body {
		body[name] = value
	}
	marked := body["idempotency_replayed"] == true
	delete(body, "idempotency_replayed")
	if !marked || !reflect.DeepEqual(body, original.body) {
		r.Fatalf("replayed %s (marked: %t)\noriginal %s", a.raw, marked, original.raw)
	}
}

// storm sends a call many times at once, in turn to each replica.
func storm(n int, c call, to ...*replica) []answer {
	answers := make([]answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = to[i%len(to)].do(c) })
	}
	all.Wait()
	return answers
}
