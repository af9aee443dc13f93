package orderserver_test

import (
	"context"
	"errors"
	"net"
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
