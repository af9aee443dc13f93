package fault

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
)

const (
	createKept = `CREATE TABLE kept (n integer)`
	insertKept = `INSERT INTO kept VALUES ($1)`
	selectKept = `SELECT COALESCE(string_agg(n::text, ',' ORDER BY n), '') FROM kept`
)

// pairWorld is a primary with its standby, a path of a replica and the harness's own way.
func pairWorld(t *testing.T, mode pgcluster.Replication) (w World, noted *notes) {
	t.Helper()
	primary, err := pgcluster.Start(t.Context(), pgcluster.Options{Fast: true})
	must(t, err)
	t.Cleanup(func() { must(t, primary.Stop()) })
	standby, err := primary.StartStandby(t.Context(), mode)
	must(t, err)
	t.Cleanup(func() { must(t, standby.Stop()) })
	noted = &notes{}
	w = World{Postgres: primary, Standby: standby, Note: noted.add, Front: wayTo(t, primary)}
	w.Paths = []Path{{Target: Database, Replica: 1, Proxy: wayTo(t, primary)}}
	w.Database, err = pgcluster.Via(primary.DSN("postgres"), w.Front.Addr())
	must(t, err)
	return w, noted
}

func wayTo(t *testing.T, c *pgcluster.Cluster) *pgwire.Proxy {
	t.Helper()
	proxy, err := pgwire.Listen(pgwire.Options{Upstream: c.Addr()})
	must(t, err)
	t.Cleanup(func() { must(t, proxy.Close()) })
	return proxy
}

// through is the address of the database by the path of the replica.
func (w World) through(t *testing.T) string {
	t.Helper()
	dsn, err := pgcluster.Via(w.Postgres.DSN("postgres"), w.Paths[0].Proxy.Addr())
	must(t, err)
	return dsn
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dsn, sql string, arguments ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	must(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql, arguments...)
	must(t, err)
}

func kept(t *testing.T, dsn string) (rows string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer conn.Close(t.Context())
	must(t, conn.QueryRow(t.Context(), selectKept).Scan(&rows))
	return rows
}

// whileHeld makes f the fault of a spec with a lag, in the course of which during is called once what is acknowledged may be lost.
func whileHeld(t *testing.T, s Spec, w World, noted *notes, during func()) *Fault {
	t.Helper()
	s.For, s.Lag = time.Hour, 3*time.Second
	timeline, err := NewTimeline([]Spec{s}, w)
	must(t, err)
	f := timeline.faults[0]
	f.strike.(*crashStrike).lag = 0
	weaken := f.strike.(*crashStrike).weaken
	f.strike.(*crashStrike).weaken = func(ctx context.Context) error {
		err := weaken(ctx)
		if want := noteSafe + " " + s.Kind; !slices.Equal(noted.list, []string{want}) {
			t.Errorf("before the loss begins the notes are %q, want %q", noted.list, want)
		}
		during()
		return err
	}
	must(t, f.strike.Inject(t.Context()))
	if want := noteStruck + " " + s.Kind; len(noted.list) != 2 || noted.list[1] != want {
		t.Errorf("at the strike the notes are %q, want %q at the end", noted.list, want)
	}
	return f
}

func TestAnAsynchronousFailoverLosesWhatWasAcknowledgedAfterTheSafeMomentAndLeadsEveryWayToTheStandby(t *testing.T) {
	w, noted := pairWorld(t, pgcluster.Asynchronous)
	run(t, w.through(t), createKept)
	run(t, w.through(t), insertKept, 1)
	f := whileHeld(t, Spec{Kind: "failover"}, w, noted, func() { run(t, w.through(t), insertKept, 2) })
	if once(t.Context(), w.through(t)) == nil {
		t.Error("the killed server answers")
	}
	must(t, f.strike.Heal(t.Context()))
	run(t, w.through(t), insertKept, 3)
	if byPath, byFront := kept(t, w.through(t)), kept(t, w.Database); byPath != "1,3" || byFront != "1,3" {
		t.Errorf("the path shows %s and the front %s", byPath, byFront)
	}
	if f.strike.Felt() != 1 {
		t.Errorf("felt %d", f.strike.Felt())
	}
}

func TestAConnectionToTheOldPrimaryIsCutByAFailover(t *testing.T) {
	w, noted := pairWorld(t, pgcluster.Asynchronous)
	conn, err := pgx.Connect(t.Context(), w.through(t))
	must(t, err)
	defer conn.Close(t.Context())
	f := whileHeld(t, Spec{Kind: "failover"}, w, noted, func() {})
	must(t, f.strike.Heal(t.Context()))
	if conn.Ping(t.Context()) == nil {
		t.Error("it is still answered")
	}
}

func TestASynchronousFailoverAcknowledgesNothingThatIsLost(t *testing.T) {
	w, noted := pairWorld(t, pgcluster.Synchronous)
	run(t, w.through(t), createKept)
	run(t, w.through(t), insertKept, 1)
	f := whileHeld(t, Spec{Kind: "failover"}, w, noted, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		conn, err := pgx.Connect(t.Context(), w.through(t))
		must(t, err)
		if _, err := conn.Exec(ctx, insertKept, 2); err == nil {
			t.Error("a commit was acknowledged that the standby does not have")
		}
	})
	must(t, f.strike.Heal(t.Context()))
	run(t, w.through(t), insertKept, 3)
	if rows := kept(t, w.through(t)); rows != "1,3" {
		t.Errorf("the promoted standby holds %s", rows)
	}
}

func TestAnUnsyncedCrashLosesWhatWasAcknowledgedAfterTheSafeMomentAndIsOverAfterwards(t *testing.T) {
	w, noted := ownWorld(t)
	run(t, w.Database, createKept)
	run(t, w.Database, insertKept, 1)
	f := whileHeld(t, Spec{Kind: "postgres-crash-unsynced"}, w, noted, func() { run(t, w.Database, insertKept, 2) })
	must(t, f.strike.Heal(t.Context()))
	run(t, w.Database, insertKept, 3)
	if rows := kept(t, w.Database); rows != "1,3" {
		t.Errorf("after the crash there are %s", rows)
	}
	awaitSynced(t, w.Database)
}

// ownWorld is a cluster of a run's own.
func ownWorld(t *testing.T) (World, *notes) {
	t.Helper()
	own, err := pgcluster.Start(t.Context(), pgcluster.Options{Fast: true})
	must(t, err)
	t.Cleanup(func() { must(t, own.Stop()) })
	noted := &notes{}
	return World{Postgres: own, Database: own.DSN("postgres"), Note: noted.add}, noted
}

// awaitSynced returns when commits wait for the disk again.
func awaitSynced(t *testing.T, dsn string) {
	t.Helper()
	awaitFelt(t, func() bool {
		conn, err := pgx.Connect(t.Context(), dsn)
		must(t, err)
		defer conn.Close(t.Context())
		var value string
		must(t, conn.QueryRow(t.Context(), `SHOW synchronous_commit`).Scan(&value))
		return value == "on"
	})
}

// A run that is stopped before the kill has its database as it was.
func TestAnInterruptedCrashLeavesTheDatabaseAlone(t *testing.T) {
	pair, pairNotes := pairWorld(t, pgcluster.Asynchronous)
	own, ownNotes := ownWorld(t)
	for _, c := range []struct {
		kind  string
		world World
		noted *notes
	}{{"failover", pair, pairNotes}, {"postgres-crash-unsynced", own, ownNotes}} {
		ctx, cancel := context.WithCancel(t.Context())
		timeline, err := NewTimeline([]Spec{{Kind: c.kind, For: 2 * time.Hour, Lag: time.Hour}}, c.world)
		must(t, err)
		f := timeline.faults[0]
		weaken := f.strike.(*crashStrike).weaken
		f.strike.(*crashStrike).weaken = func(ctx context.Context) error {
			defer cancel() // once commits may be lost
			return weaken(ctx)
		}
		if err := f.strike.Inject(ctx); err == nil {
			t.Errorf("%s: the interruption is not reported", c.kind)
		}
		must(t, f.strike.Heal(t.Context()))
		if f.strike.Felt() != 0 || len(c.noted.list) != 1 {
			t.Errorf("%s: felt %d, notes %q", c.kind, f.strike.Felt(), c.noted.list)
		}
		run(t, c.world.Database, createKept)
		awaitSynced(t, c.world.Database)
	}
	must(t, pair.Postgres.AwaitReplicated(t.Context())) // the sender is at work again
}

func TestAFailoverWithoutAStandbyIsRefused(t *testing.T) {
	w, _ := ownWorld(t)
	_, err := NewTimeline([]Spec{{Kind: "failover", For: time.Second}}, w)
	if err == nil || !strings.Contains(err.Error(), "subject.standby") {
		t.Errorf("got %v", err)
	}
	if _, err := NewTimeline([]Spec{{Kind: "postgres-crash-unsynced", For: time.Second, Lag: 1}}, World{}); err == nil {
		t.Error("a server that is not ours can be crashed")
	}
}

func TestOnlyAStatedWeaknessHasALossWindow(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		spec    Spec
		standby pgcluster.Replication
		want    bool
	}{
		{Spec{Kind: "failover", Lag: second}, pgcluster.Asynchronous, true},
		{Spec{Kind: "failover", Lag: second}, pgcluster.Synchronous, false},
		{Spec{Kind: "postgres-crash-unsynced", Lag: second}, "", true},
		{Spec{Kind: "postgres-kill"}, pgcluster.Asynchronous, false},
	} {
		window, ok := c.spec.LossWindow(c.standby)
		if ok != c.want || ok && window != second+LossMargin {
			t.Errorf("%s with %q: %v %v", c.spec.Kind, c.standby, window, ok)
		}
	}
}
