package orderserver_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

const checkoutBody = `{"plan":"pro","amount_cents":1999}`

// linked is a server whose paths to the database lead through links.
type linked struct {
	*rig
	orders, store *link
	provider      *provider
	url           string
}

const (
	testDeadline = 2 * time.Second
	lateness     = 5 * time.Second // of a machine that is busy with other tests
)

func newLinked(t *testing.T, change func(*orderserver.Config)) *linked {
	r := newRig(t)
	l := &linked{rig: r, orders: newLink(t, r.dsn), store: newLink(t, r.dsn), provider: newProvider(t)}
	l.url = r.serve(func(c *orderserver.Config) {
		c.DatabaseURL, c.StoreURL, c.ProviderURL = l.orders.dsn, l.store.dsn, l.provider.url
		if change != nil {
			change(c)
		}
	})
	return l
}

func (l *linked) checkout(keys []string) reply {
	return l.do(l.url, call{path: "/api/billing/checkout", body: checkoutBody, keys: keys})
}

func TestStoreOutage(t *testing.T) {
	for name, strike := range map[string]func(*link){"refused": (*link).refuse, "hanging": (*link).hang} {
		t.Run(name, func(t *testing.T) {
			l := newLinked(t, func(c *orderserver.Config) { c.RequestDeadline, c.ConnectTimeout = testDeadline, time.Second })
			l.want(l.order(l.url, newKey()[0]), 201, "") // connections that the outage finds open
			strike(l.store)
			l.wantClosedAndOpen()
			l.store.pass()
			healed := time.Now()
			l.eventually("recovery", func() bool { return l.order(l.url, newKey()[0]).status == 201 })
			if took := time.Since(healed); took > 2*time.Second+lateness {
				t.Errorf("recovery took %s", took)
			}
			l.wantConserved()
		})
	}
}

// wantClosedAndOpen: tier 1 answers 503 in time and does nothing, tier 2 proceeds, and says so.
func (l *linked) wantClosedAndOpen() {
	l.t.Helper()
	key := newKey()
	start := time.Now()
	l.want(l.do(l.url, call{keys: key}), 503, "idempotency_store_unavailable")
	if took := time.Since(start); took > testDeadline+lateness {
		l.t.Errorf("a refusal took %s", took)
	}
	l.wantRows(key[0], 0, 0, 0)
	paid := newKey()
	l.want(l.checkout(paid), 201, "")
	if l.count(`SELECT count(*) FROM checkouts WHERE idem_key = $1`, paid[0]) != 1 || l.provider.keys[0] != paid[0] {
		l.t.Error("tier 2 did not proceed, or without its key")
	}
	if !strings.Contains(l.log.String(), "proceeding without deduplication") {
		l.t.Error("failing open was not logged")
	}
	for _, endpoint := range []string{orderserver.OrdersEndpoint, orderserver.CheckoutEndpoint} {
		line := `idempotency_store_unavailable_total{endpoint="` + endpoint + `"} 1`
		if !strings.Contains(l.do(l.url, call{method: "GET", path: "/metrics"}).raw, line) {
			l.t.Errorf("metrics lack %s", line)
		}
	}
	l.want(l.do(l.url, call{method: "GET", path: "/readyz"}), 503, "")
}

func TestServerStartsWithoutItsDatabase(t *testing.T) {
	r := newRig(t)
	path := newLink(t, r.dsn)
	path.refuse()
	url := r.serve(func(c *orderserver.Config) { c.DatabaseURL = path.dsn })
	r.want(r.do(url, call{keys: newKey()}), 503, "database_unavailable")
	r.want(r.do(url, call{method: "GET", path: "/healthz"}), 200, "")
	path.pass()
	r.want(r.do(url, call{keys: newKey()}), 201, "")
}

func TestHandlersDatabaseLostAfterTheClaim(t *testing.T) {
	l := newLinked(t, func(c *orderserver.Config) { c.HandlerDelay = 300 * time.Millisecond })
	c := call{keys: newKey()}
	worker := l.begin(l.url, c)
	l.orders.refuse()
	l.want(<-worker, 503, "database_unavailable")
	l.orders.pass()
	l.want(l.do(l.url, c), 409, "idempotency_previous_failed")
	l.wantRows(c.keys[0], 0, 0, 1)
}

func TestLostCommitAcknowledgementLeavesTheRecordCompleted(t *testing.T) {
	l := newLinked(t, nil)
	c := call{keys: newKey()}
	l.orders.loseAnswerTo("commit")
	l.want(l.do(l.url, c), 503, "outcome_unknown")
	p := l.do(l.url, c)
	l.want(p, 201, "")
	if p.header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("retry after a lost acknowledgement: %v", p)
	}
	l.wantRows(c.keys[0], 1, 1, 1)
	l.wantConserved()
}

func TestLostAnswerBeforeCommitIsACleanFailure(t *testing.T) {
	l := newLinked(t, nil)
	c := call{keys: newKey()}
	l.orders.loseAnswerTo("UPDATE accounts")
	l.want(l.do(l.url, c), 503, "database_unavailable")
	l.want(l.do(l.url, c), 409, "idempotency_previous_failed")
	l.wantRows(c.keys[0], 0, 0, 1)
}

func TestLostClaimAcknowledgementHealsByTheThreshold(t *testing.T) {
	l := newLinked(t, func(c *orderserver.Config) { c.StaleAfter = 400 * time.Millisecond })
	c := call{keys: newKey()}
	l.store.loseAnswerTo("INSERT INTO idempotency_keys")
	l.want(l.do(l.url, c), 503, "idempotency_store_unavailable")
	l.want(l.do(l.url, c), 409, "idempotency_in_flight")
	l.eventually("final answer", func() bool { return l.do(l.url, c).status == http.StatusCreated })
	l.wantRows(c.keys[0], 1, 0, 1)
}

func TestReplayThatCannotBeAuditedIsRefusedOnTier1Only(t *testing.T) {
	l := newLinked(t, nil)
	order, paid := call{keys: newKey()}, newKey()
	l.want(l.do(l.url, order), 201, "")
	l.want(l.checkout(paid), 201, "")
	l.exec(`ALTER TABLE audit_log ADD CONSTRAINT full_up CHECK (action <> 'idempotency_replay')`)
	l.want(l.do(l.url, order), 503, "idempotency_store_unavailable")
	if p := l.checkout(paid); p.header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("tier 2 without an audit log: %v", p)
	}
	l.wantRows(order.keys[0], 1, 0, 1)
}

func TestRestartedDatabaseIsNotNoticedByTheNextRequest(t *testing.T) {
	l := newLinked(t, nil)
	l.want(l.order(l.url, newKey()[0]), 201, "")
	l.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'idemstorm-%' AND datname = current_database()`)
	l.eventually("end of the sessions", func() bool {
		return l.count(`SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'idemstorm-%' AND datname = current_database()`) == 0
	})
	l.want(l.order(l.url, newKey()[0]), 201, "")
}

func TestRoundTrips(t *testing.T) {
	l := newLinked(t, func(c *orderserver.Config) { c.PoolSize, c.StorePoolSize = 1, 1 })
	measure := func(c call) int64 {
		before := l.orders.trips.Load() + l.store.trips.Load()
		l.want(l.do(l.url, c), 201, "")
		return l.orders.trips.Load() + l.store.trips.Load() - before
	}
	warm := call{keys: newKey()}
	for range 3 { // prepare every statement
		measure(call{})
		measure(warm)
	}
	const session = 1
	fresh := call{keys: newKey()}
	plain, first, replay := measure(call{}), measure(fresh), measure(fresh)
	t.Logf("round trips: %d without a key, %d fresh, %d replayed", plain, first, replay)
	if first-plain > 2 || replay-session > 2 {
		t.Fatalf("round trips: %d without a key, %d fresh, %d replayed", plain, first, replay)
	}
}
