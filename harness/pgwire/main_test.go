package pgwire_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// cluster is the one database of this package's tests.
var cluster *pgcluster.Cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	cluster, err = pgcluster.Start(context.Background(), pgcluster.Options{Fast: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need PostgreSQL:", err)
		return 1
	}
	before := goleak.IgnoreCurrent()
	code := m.Run()
	if err := goleak.Find(before); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// bounded is the context of one test: nothing in it may wait longer.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func listen(t testing.TB, opts pgwire.Options) *pgwire.Proxy {
	t.Helper()
	if opts.Upstream == "" {
		opts.Upstream = cluster.Addr()
	}
	p, err := pgwire.Listen(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// config is the cluster's own address with the proxy's in its place.
func config(t testing.TB, addr string) *pgx.ConnConfig {
	t.Helper()
	cfg, err := pgx.ParseConfig(cluster.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	var host string
	var port uint16
	if _, err := fmt.Sscanf(addr, "127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	host = "127.0.0.1"
	cfg.Host, cfg.Port = host, port
	return cfg
}

func connect(ctx context.Context, t testing.TB, addr string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(ctx, config(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = conn.Close(ctx) // many tests break it on purpose
	})
	return conn
}

// await waits for what another goroutine announces by closing.
func await(ctx context.Context, t testing.TB, event <-chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-ctx.Done():
		t.Fatal("waited in vain")
	}
}

// eventually waits for a condition of another goroutine's making.
func eventually(ctx context.Context, t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never came true: %s", what)
		}
	}
}
