package orderserver_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

// run serves on a port of its own until the returned function is called, which returns what Serve did.
func (r *rig) run(change func(*orderserver.Config)) (stop func() error) {
	_, stop = r.runAt(change)
	return stop
}

func (r *rig) runAt(change func(*orderserver.Config)) (url string, stop func() error) {
	cfg := orderserver.Config{DatabaseURL: r.dsn}
	change(&cfg)
	server := must(orderserver.New(r.t.Context(), cfg))
	ln := must(net.Listen("tcp", "127.0.0.1:0"))
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln) }()
	return "http://" + ln.Addr().String(), func() error {
		cancel()
		defer server.Close()
		return <-served
	}
}

func TestShutdownFinishesWhatIsInFlight(t *testing.T) {
	r := newRig(t)
	url, stop := r.runAt(func(c *orderserver.Config) { c.HandlerDelay = 300 * time.Millisecond })
	c := call{keys: newKey()}
	worker := r.begin(url, c)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	r.want(<-worker, 201, "")
	r.wantRows(c.keys[0], 1, 0, 1)
}

// traffic sends one order after the other until one is not answered, and returns the keys of those that were and of that one.
func (r *rig) traffic(url string, placed *atomic.Int64) (answered []string, unanswered string) {
	for {
		key := newKey()
		if p, err := r.try(r.t.Context(), url, call{keys: key}); err != nil {
			return answered, key[0]
		} else if p.status != 201 {
			r.t.Errorf("%v", p)
		}
		answered = append(answered, key[0])
		placed.Add(1)
	}
}

// A connection that the server closes while it is idle may carry a request that is just under way to it. That one never begins; what
// has begun is answered.
func TestShutdownDuringTrafficCutsNoRequestAndLeavesNoClaim(t *testing.T) {
	const workers = 6
	r := newRig(t)
	url, stop := r.runAt(func(c *orderserver.Config) {
		c.RequestDeadline, c.ConnectTimeout, c.HandlerDelay = patience, patience, 3*time.Millisecond
	})
	var placed atomic.Int64
	var group sync.WaitGroup
	answered, unanswered := make([][]string, workers), make([]string, workers)
	for i := range workers {
		group.Go(func() { answered[i], unanswered[i] = r.traffic(url, &placed) })
	}
	r.eventually("traffic", func() bool { return placed.Load() > 5*workers })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	for i := range workers {
		r.wantRows(unanswered[i], 0, 0, 0)
		for _, key := range answered[i] {
			r.wantRows(key, 1, 0, 1)
		}
	}
	if n := r.count(`SELECT count(*) FROM idempotency_keys WHERE status <> 'completed'`); n != 0 {
		t.Errorf("%d claims are left behind", n)
	}
}

func TestSeedRefusesADatabaseInUse(t *testing.T) {
	r := newRig(t)
	conn := must(pgx.Connect(t.Context(), r.dsn))
	defer conn.Close(context.Background())
	if _, err := orderserver.Seed(t.Context(), conn, orderserver.SeedSpec{Users: 1, Cash: "1.00"}); !errors.Is(err, orderserver.ErrNotEmpty) {
		t.Fatalf("second seed: %v", err)
	}
	if u := r.seed.Users[1]; u.ID != 2 || u.Positions[0] != positionsOfRig+1 || len(u.Positions) != positionsOfRig {
		t.Fatalf("second user: %+v", u)
	}
}

func TestConfigurationIsCheckedAtTheStart(t *testing.T) {
	for name, cfg := range map[string]orderserver.Config{
		"no database": {},
		"isolation":   {DatabaseURL: "postgres://x", Isolation: "snapshot"},
		"address":     {DatabaseURL: "postgres://x:y:z"},
	} {
		if _, err := orderserver.New(t.Context(), cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
