package explore_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

var cluster *pgcluster.Cluster

func TestMain(m *testing.M) {
	var err error
	cluster, err = pgcluster.Start(context.Background(), pgcluster.Options{Fast: true, Settings: map[string]string{"autovacuum": "off"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// handler is a tiny server's answer to one request: an HTTP status.
type handler func(ctx context.Context, pool *pgxpool.Pool, key string) int

// rig is a tiny server, one process's worth for each actor, behind a stage.
type rig struct {
	t       testing.TB
	dsn     string
	stage   *explore.Stage
	clients []*explore.Client
	admin   *pgx.Conn
}

// open puts a handler for each actor on a database with the given schema; shared gives all of them one pool and one gate.
func open(t testing.TB, schema string, o explore.StageOptions, shared bool, handlers ...handler) *rig {
	t.Helper()
	ctx := context.Background()
	name := "t" + strings.ReplaceAll(uuid.NewString(), "-", "")
	must(t, cluster.CreateDatabase(ctx, name))
	r := &rig{t: t, dsn: cluster.DSN(name)}
	r.admin = value(pgx.Connect(ctx, r.dsn))(t)
	t.Cleanup(func() { must(t, r.admin.Close(ctx)) })
	_, err := r.admin.Exec(ctx, schema)
	must(t, err)
	o.DSN = r.dsn
	r.stage = value(explore.NewStage(ctx, o))(t)
	t.Cleanup(func() { must(t, r.stage.Close(ctx)) })
	var pool *pgxpool.Pool
	for i, h := range handlers {
		if pool == nil || !shared {
			owner := i
			if shared {
				owner = explore.Shared
			}
			pool = r.pool(owner)
		}
		r.serve(i, pool, h)
	}
	return r
}

func (r *rig) pool(owner int) *pgxpool.Pool {
	r.t.Helper()
	proxy := value(pgwire.Listen(pgwire.Options{Upstream: cluster.Addr(), Controller: r.stage.Gate(owner)}))(r.t)
	r.t.Cleanup(func() { must(r.t, proxy.Close()) })
	dsn := value(pgcluster.Via(r.dsn, proxy.Addr()))(r.t)
	if owner != explore.Shared {
		dsn += "&" + explore.DeadlockOption(owner)
	}
	pool := value(pgxpool.New(context.Background(), dsn))(r.t)
	r.t.Cleanup(pool.Close)
	return pool
}

func (r *rig) serve(i int, pool *pgxpool.Pool, h handler) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.WriteHeader(h(req.Context(), pool, req.Header.Get("Idempotency-Key")))
	}))
	client := explore.NewClient(func() string { return server.URL }, i+1, contract.ADR0138(0, 0))
	r.t.Cleanup(server.Close)
	r.t.Cleanup(client.Close)
	r.clients = append(r.clients, client)
}

// scenario lets one request loose on each server. More than one execution is a violation.
func (r *rig) scenario(class string) explore.Scenario {
	s := explore.Scenario{Name: "tiny"}
	for i, client := range r.clients {
		s.Actors = append(s.Actors, client.Actor(fmt.Sprintf("request %d", i+1), class, explore.Request{Method: "POST", Path: "/"}))
	}
	s.Fresh = func(context.Context) (explore.Case, error) { return explore.Case{Key: uuid.NewString()}, nil }
	s.Judge = func(ctx context.Context, c explore.Case, plays []explore.Play) (o schedule.Outcome, err error) {
		for _, play := range plays {
			o.Answers = append(o.Answers, play.Answer.Class)
		}
		err = r.admin.QueryRow(ctx, `SELECT count(*) FROM orders WHERE key = $1`, c.Key).Scan(&o.Executions)
		if o.Executions > 1 {
			o.Violated = []schedule.Violation{{Invariant: "at-most-once", Sentence: "executed twice"}}
		}
		return o, err
	}
	return s
}

// warm lets every server answer twice, so that connections are open and statements prepared.
func (r *rig) warm() {
	for range 2 {
		for _, client := range r.clients {
			client.Send(context.Background(), explore.Case{Key: uuid.NewString()}, explore.Request{Method: "POST", Path: "/"})
		}
	}
}

func (r *rig) search(class string, o explore.Options) schedule.Result {
	r.t.Helper()
	r.warm()
	s := r.scenario(class)
	for range s.Actors {
		o.Classes = append(o.Classes, class)
	}
	result, err := explore.Search(r.t.Context(), r.stage.System(s), o)
	must(r.t, err)
	if result.Schedule != nil {
		result.Schedule.Actors = s.Names()
	}
	return result
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}
