package fault

import (
	"context"
	"os"
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
	var err error
	if cluster, err = pgcluster.Start(context.Background(), pgcluster.Options{Fast: true}); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		panic(err)
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
func TestEveryKindBitesAndHealsWholly(t *testing.T) {
	for _, kind := range Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			path, dsn := openPath(t, Store, 1)
			spec := Spec{Kind: kind.Name, For: 200 * time.Millisecond, On: Store, Delay: 20 * time.Millisecond, Bandwidth: 2000, Bad: 30 * time.Millisecond, Good: 10 * time.Millisecond}
			if err := ValidateAll([]Spec{spec}); err != nil {
				t.Fatal(err)
			}
			timeline, err := NewTimeline([]Spec{spec}, World{Paths: []Path{path}})
			if err != nil {
				t.Fatal(err)
			}
			rec, ended := make(recorder, 3), make(chan error, 1)
			go func() { ended <- timeline.Run(t.Context(), time.Now(), rec) }()
			began := rec.await(t, history.FaultBegan)
			stop := query(t, dsn, true) // queries run until the fault has healed
			healing := rec.await(t, history.FaultHealing)
			healed := rec.await(t, history.FaultHealed)
			stop()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if healed.Bit == 0 {
				t.Error("nothing was affected")
			}
			if began.AtNS > healing.AtNS || healing.AtNS > healed.AtNS {
				t.Errorf("moments out of order: %d, %d, %d", began.AtNS, healing.AtNS, healed.AtNS)
			}
			if began.Total != kind.Total {
				t.Errorf("total is %v, want %v", began.Total, kind.Total)
			}
			query(t, dsn, false)()
		})
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
	proxy, err := pgwire.Listen(pgwire.Options{Upstream: cluster.Addr()})
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
	rec, ended := make(recorder, 3), make(chan error, 1)
	go func() { ended <- timeline.Run(ctx, time.Now(), rec) }()
	rec.await(t, history.FaultBegan)
	cancel()
	rec.await(t, history.FaultHealing)
	rec.await(t, history.FaultHealed)
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
		"faults[1]: ":         {good, {Kind: "path-hang", At: second + second/2, For: second, On: Both, Replica: 1}},
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
