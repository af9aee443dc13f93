package fault

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
)

var cluster *pgcluster.Cluster

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		serveReplica()
		return
	}
	var err error
	if cluster, err = pgcluster.Start(context.Background(), pgcluster.Options{Fast: true}); err != nil {
		panic(err)
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := cluster.Stop(); err != nil {
		panic(err)
	}
	if c, err := own(); err == nil {
		if err := c.Stop(); err != nil {
			panic(err)
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		panic(err)
	}
	os.Exit(code)
}

// recorder keeps the moments of a timeline; channels let a test wait for them.
type recorder chan history.Fault

func (r recorder) Fault(f history.Fault) { r <- f }

func (r recorder) await(t *testing.T, phase string) history.Fault {
	t.Helper()
	select {
	case f := <-r:
		if f.Phase != phase {
			t.Fatalf("the fault is %s, want %s", f.Phase, phase)
		}
		return f
	case <-time.After(30 * time.Second):
		t.Fatalf("the fault never was %s", phase)
		return history.Fault{}
	}
}

// Every kind must bite while it lasts, and leave nothing behind once healed.
func TestEveryPathFaultBitesAndHealsWholly(t *testing.T) {
	for _, kind := range Kinds {
		if kind.Wire || !slices.Contains(kind.On, Store) {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			path, dsn := openPath(t, Store, 1)
			spec := Spec{Kind: kind.Name, On: Store, Delay: 20 * time.Millisecond, Bandwidth: 2000, Bad: 30 * time.Millisecond, Good: 10 * time.Millisecond}
			healed := struck(t, spec, World{Paths: []Path{path}}, func() {
				stop := query(t, dsn, true)
				defer stop()
				awaitFelt(t, func() bool {
					s := path.Proxy.Stats()
					return s.Refused+s.Reset+s.Shaped > 0 || (kind.Name == "path-hang" && s.Accepted > 0)
				})
			})
			if healed.Total != kind.Total {
				t.Errorf("total is %v, want %v", healed.Total, kind.Total)
			}
			query(t, dsn, false)()
		})
	}
}

// awaitFelt returns when somebody has felt the fault.
func awaitFelt(t *testing.T, felt func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.After(30 * time.Second); !felt(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("nothing was affected")
		}
	}
}

// query keeps asking through the path from another goroutine until stop is called; when faulty, its errors are expected.
func query(t *testing.T, dsn string, faulty bool) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for {
			err := once(ctx, dsn)
			if ctx.Err() != nil || !faulty {
				done <- err
				return
			}
		}
	}()
	return func() {
		if !faulty {
			defer cancel()
			if err := <-done; err != nil {
				t.Errorf("after healing: %v", err)
			}
			return
		}
		cancel()
		<-done
	}
}

func once(ctx context.Context, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "SELECT 1")
	return err
}

func openPath(t *testing.T, target Target, replica int) (Path, string) {
	t.Helper()
	proxy, err := pgwire.Listen(pgwire.Options{Upstream: cluster.Addr(), Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	dsn, err := pgcluster.Via(cluster.DSN("postgres"), proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return Path{Target: target, Replica: replica, Proxy: proxy}, dsn
}

// A run that is stopped heals what is in force at once.
func TestAnInterruptedTimelineHeals(t *testing.T) {
	path, dsn := openPath(t, Store, 1)
	timeline, err := NewTimeline([]Spec{{Kind: "path-refuse", For: time.Hour, On: Store}}, World{Paths: []Path{path}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rec, ended := make(recorder, 4), make(chan error, 1)
	go func() { ended <- timeline.Run(ctx, time.Now(), rec) }()
	striking := rec.await(t, history.FaultStriking)
	began := rec.await(t, history.FaultBegan)
	cancel()
	healing := rec.await(t, history.FaultHealing)
	healed := rec.await(t, history.FaultHealed)
	if striking.AtNS > began.AtNS || began.AtNS > healing.AtNS || healing.AtNS > healed.AtNS {
		t.Errorf("moments out of order: %d, %d, %d, %d", striking.AtNS, began.AtNS, healing.AtNS, healed.AtNS)
	}
	if err := <-ended; err == nil {
		t.Error("the interruption is not reported")
	}
	query(t, dsn, false)()
}

func TestAFaultStrikesOnlyTheReplicaAndPathItNames(t *testing.T) {
	var paths []Path
	for _, target := range []Target{Store, Database} {
		for replica := 1; replica <= 2; replica++ {
			p, _ := openPath(t, target, replica)
			paths = append(paths, p)
		}
	}
	cases := []struct {
		spec Spec
		want int
	}{
		{Spec{On: Store}, 2}, {Spec{On: Both}, 4}, {Spec{On: Both, Replica: 2}, 2}, {Spec{On: Database, Replica: 1}, 1}, {Spec{On: Store, Replica: 3}, 0},
	}
	for _, c := range cases {
		got := 0
		for _, p := range paths {
			if c.spec.strikes(p) {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%+v strikes %d paths, want %d", c.spec, got, c.want)
		}
	}
}

func TestATimelineThatMakesNoSenseIsRefused(t *testing.T) {
	second := time.Second
	good := Spec{Kind: "path-refuse", At: second, For: second, On: Store}
	cases := map[string][]Spec{
		"faults[0].kind":      {{Kind: "path-refuze", For: second, On: Store}},
		"faults[0].at":        {{Kind: "path-refuse", At: -1, For: second, On: Store}},
		"faults[0].for":       {{Kind: "path-refuse", On: Store}},
		"faults[0].on":        {{Kind: "path-refuse", For: second, On: "disk"}},
		"faults[0].replica":   {{Kind: "path-refuse", For: second, On: Store, Replica: -1}},
		"faults[0].delay":     {{Kind: "path-slow", For: second, On: Store}},
		"faults[0].bandwidth": {{Kind: "path-trickle", For: second, On: Store}},
		"faults[0].bad":       {{Kind: "path-flapping", For: second, On: Store}},
		"faults[0].share":     {{Kind: "commit-ack-lost", For: second, On: Database, Share: 1.5}},
		"faults[0].statement": {{Kind: "commit-ack-lost", For: second, On: Database, Statement: "("}},
		"faults[0].code":      {{Kind: "error-share", For: second, On: Database, Code: "serialization"}},
		"faults[0].flag":      {{Kind: "flag", For: second, Flag: "feature_x"}},
		"faults[0].run":       {{Kind: "command", For: second, Run: "rm"}},
		"faults[0].users":     {{Kind: "command", For: second, Run: "erase"}},
		"faults[0].by":        {{Kind: "records-age", For: second}},
		"faults[0].lag":       {{Kind: "failover", For: second, Lag: second}},
		"faults[0].lag: it":   {{Kind: "postgres-crash-unsynced", For: second}},
		"faults[0].by: rep":   {{Kind: "replica-clock", For: second}},
		"faults[0].state":     {{Kind: "records-expire", For: second, State: "open"}},
		"faults[1]: ":         {good, {Kind: "path-hang", At: second + second/2, For: second, On: Both, Replica: 1}},
		"faults[0].table":     {{Kind: "postgres-table-lock", For: second, Table: "Robert'); --"}},
	}
	for want, specs := range cases {
		if err := ValidateAll(specs); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want an error that begins with %q", err, want)
		}
	}
	apart := []Spec{good, {Kind: "path-hang", At: second, For: second, On: Database}, {Kind: "path-hang", At: 2 * second, For: second, On: Store}}
	if err := ValidateAll(apart); err != nil {
		t.Errorf("faults apart in time or path are refused: %v", err)
	}
}
