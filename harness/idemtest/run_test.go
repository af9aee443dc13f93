package idemtest_test

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/idemstorm/idemstorm/harness/idemtest"
)

func TestTheExamplesServiceHolds(t *testing.T) { ordersAreSafeToRetry(t) }

func TestCheckThenInsertIsConvictedWithTheCounterexample(t *testing.T) {
	db := pool(t, idemtest.Postgres(t), createShop)
	e := ordering
	e.Scenarios, e.Seed = []string{"race"}, 7
	r := record(t, func(t testing.TB) { idemtest.Run(t, idemtest.Handler(checkThenInsert(db)), e, idemtest.Pgx(db, sales)) })
	if !r.failed || r.fatal {
		t.Fatalf("failed %v, fatal %v: %s", r.failed, r.fatal, r.said.String())
	}
	r.mustSay(t, "race: VIOLATED", "at-most-once", "expected  ", "POST /sales", "rows of executions", "  note ",
		"IDEMTEST_SEED=7 go test -count=1 -run", "'^TestCheckThenInsertIsConvictedWithTheCounterexample$'", "harness/idemtest", "report.html")
}

// A lock that lives in one process keeps duplicates out there, and lets them in through a second one.
func TestALockInOneProcessIsConvictedOnceThereAreTwo(t *testing.T) {
	db := pool(t, idemtest.Postgres(t), createShop)
	replica := func() http.Handler {
		var lock sync.Mutex
		inner := checkThenInsert(db)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			lock.Lock()
			defer lock.Unlock()
			inner.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
		})
	}
	e := ordering
	e.Scenarios = []string{"race"}
	idemtest.Run(t, idemtest.Handler(replica()), e, idemtest.Pgx(db, sales))
	r := record(t, func(t testing.TB) {
		idemtest.Run(t, idemtest.Handler(replica(), replica()), e, idemtest.Pgx(db, sales))
	})
	if !r.failed {
		t.Errorf("two replicas hold: %s", r.said.String())
	}
}

// counting is a service without a database.
type counting struct {
	mu      sync.Mutex
	charges map[string]int
	always  bool // it charges for every request
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := r.Header.Get("Idempotency-Key"); c.always || c.charges[key] == 0 {
		c.charges[key]++
	}
	w.WriteHeader(http.StatusCreated)
}

func (c *counting) count(_ context.Context, key string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.charges[key], nil
}

func TestAFunctionMayCountExecutions(t *testing.T) {
	e := idemtest.Endpoint{Method: "PUT", Path: "/charges", Clients: 4, Keys: 100}
	right := &counting{charges: map[string]int{}}
	idemtest.Run(t, idemtest.Handler(right), e, idemtest.Count(right.count))
	wrong := &counting{charges: map[string]int{}, always: true}
	r := record(t, func(t testing.TB) { idemtest.Run(t, idemtest.Handler(wrong), e, idemtest.Count(wrong.count)) })
	r.mustSay(t, "race: VIOLATED", "storm: VIOLATED", "count=")
}

func TestEverySourceIsReadAndCompared(t *testing.T) {
	dsn := idemtest.Postgres(t)
	db := pool(t, dsn, createOrders)
	standard, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer standard.Close()
	e := idemtest.Endpoint{Path: "/orders", Body: `{"item": "{{unique}}"}`, Scenarios: []string{"race"}, Keys: 20}
	const byKey, byToken = `SELECT id, idem_key AS key FROM orders`, `SELECT item AS token FROM orders`
	r := record(t, func(t testing.TB) {
		idemtest.Run(t, idemtest.Handler(orders{db}), e, idemtest.SQL(standard, byKey), idemtest.SQL(standard, byToken), idemtest.Pgx(db, byKey),
			idemtest.Pgx(db, byToken), idemtest.Database(dsn, byKey))
	})
	if r.failed || strings.Contains(r.said.String(), "evidence-agrees") {
		t.Error(r.said.String())
	}
	lame := record(t, func(t testing.TB) {
		idemtest.Run(t, idemtest.Handler(orders{db}), e, idemtest.SQL(standard, byKey), idemtest.Pgx(db, byKey+` UNION ALL `+byKey))
	})
	lame.mustSay(t, "evidence Pgx: shows 2 executions for a single request")
}

// slowly goes on with its work when its client has hung up, as a handler does that wants to end what it has begun.
func slowly(h http.Handler, by time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-time.After(by)
		h.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
	})
}

// What a handler does after its last client has left is counted too.
func TestEvidenceIsReadWhenNoRequestIsHandledAnyMore(t *testing.T) {
	wrong := &counting{charges: map[string]int{}, always: true}
	e := idemtest.Endpoint{Path: "/charges", Scenarios: []string{"storm"}, Keys: 60}
	r := record(t, func(t testing.TB) {
		idemtest.Run(t, idemtest.Handler(slowly(wrong, 30*time.Millisecond)), e, idemtest.Count(wrong.count))
	})
	r.mustSay(t, "storm: VIOLATED", "lost")
}

func TestAHandlerThatPanicsIsHeard(t *testing.T) {
	e := idemtest.Endpoint{Path: "/charges", Scenarios: []string{"race"}}
	panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no till") })
	r := record(t, func(t testing.TB) { idemtest.Run(t, idemtest.Handler(panics), e, idemtest.Count((&counting{}).count)) })
	r.mustSay(t, "no till", "does not answer")
}
