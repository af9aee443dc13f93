package fault

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

const (
	keysSQL   = `CREATE TABLE idempotency_keys (v text); ALTER TABLE idempotency_keys ALTER v SET STORAGE PLAIN`
	insertSQL = `INSERT INTO idempotency_keys SELECT repeat('x', 6000)` // a page of its own
)

// mayMount: without it, that the full disk is refused is what can be shown (TestADiskThatIsNotSmallCannotBeFilled).
var mayMount = os.Geteuid() == 0

// own is a server for faults that all its clients feel, with few slots, a small disk and a key table: TestMain stops it.
var own = sync.OnceValues(func() (*pgcluster.Cluster, error) {
	ctx := context.Background()
	options := pgcluster.Options{Fast: true, Settings: map[string]string{"max_connections": "20"}}
	if mayMount {
		options.SmallDisk = 32 << 20
	}
	c, err := pgcluster.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	return c, c.CreateDatabase(ctx, "orders")
})

func ownPostgres(t *testing.T) (c *pgcluster.Cluster, dsn string) {
	t.Helper()
	c, err := own()
	if err != nil {
		t.Fatal(err)
	}
	dsn = c.DSN("orders")
	if code := codeOf(open(t, dsn), `DROP TABLE IF EXISTS idempotency_keys, other; `+keysSQL); code != "" {
		t.Fatal(code)
	}
	return c, dsn
}

func open(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // a fault may have ended it
	return conn
}

// codeOf runs a statement and gives the SQLSTATE of its error, "" for none.
func codeOf(conn *pgx.Conn, sql string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err := conn.Exec(ctx, sql)
	return stateOf(err)
}

func stateOf(err error) string {
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return refused.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// newcomer is what somebody meets who connects and writes.
func newcomer(dsn string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return stateOf(err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, insertSQL)
	return stateOf(err)
}

// What a client meets while each fault lasts, on a session from before and on a new one; and that both may write when it is healed. An
// interrupted run heals in the same way.
func TestAServerInABadConditionShowsIt(t *testing.T) {
	own, dsn := ownPostgres(t)
	w := World{Postgres: own, Database: dsn}
	for _, c := range []struct{ kind, code, old string }{
		{"postgres-read-only", "25006", "25006"},
		{"postgres-connections-exhausted", "53300", "57P01"},
		{"postgres-disk-full", "53100", "53100"},
	} {
		if c.kind == postgresDiskFull.Name && !mayMount {
			continue
		}
		t.Run(c.kind, func(t *testing.T) {
			before := open(t, dsn)
			if code := codeOf(before, insertSQL); code != "" {
				t.Fatalf("before it: %s", code)
			}
			struck(t, Spec{Kind: c.kind}, w, func() {
				if code := codeOf(before, insertSQL); code != c.old {
					t.Errorf("on an open session: %s, want %s", code, c.old)
				}
				if code := newcomer(dsn); code != c.code {
					t.Errorf("on a new session: %s, want %s", code, c.code)
				}
			})
			healthy(t, dsn, before)
			interrupt(t, Spec{Kind: c.kind}, w)
			healthy(t, dsn, before)
		})
	}
}

// healthy says that everything is as before a fault: a session that it did not end works, as do as many new ones as there are slots.
func healthy(t *testing.T, dsn string, before *pgx.Conn) {
	t.Helper()
	if before != nil && !before.IsClosed() && codeOf(before, insertSQL) != "" {
		t.Error("healed, a session from before cannot write")
	}
	if code := newcomer(dsn); code != "" {
		t.Errorf("healed, a new session cannot write: %s", code)
	}
	var left string
	err := open(t, dsn).QueryRow(t.Context(), leftSQL).Scan(&left)
	if err != nil || left != "" {
		t.Errorf("healed, it is left: %s %v", left, err)
	}
}

// leftSQL lists what faults have changed in the server's settings, and sessions and locks that are theirs.
const leftSQL = `
	SELECT concat_ws(', ',
		(SELECT string_agg(name, ' ') FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'),
		(SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE application_name = 'idemstorm-crowd'),
		(SELECT string_agg(pid::text, ' ') FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'idempotency_keys'::regclass))`

// interrupt runs a fault and ends the run while it lasts.
func interrupt(t *testing.T, s Spec, w World) {
	t.Helper()
	s.For = time.Hour
	timeline, err := NewTimeline([]Spec{s}, w)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rec, ended := make(recorder, 4), make(chan error, 1)
	go func() { ended <- timeline.Run(ctx, time.Now(), rec) }()
	rec.await(t, history.FaultStriking)
	rec.await(t, history.FaultBegan)
	cancel()
	rec.await(t, history.FaultHealing)
	rec.await(t, history.FaultHealed)
	<-ended
}

// A run may be stopped at any moment of a fault's beginning.
func TestAFaultThatWasInterruptedAsItBeganLeavesNothing(t *testing.T) {
	own, dsn := ownPostgres(t)
	for _, kind := range []string{"postgres-read-only", "postgres-connections-exhausted", "postgres-disk-full", "postgres-table-lock"} {
		if kind == postgresDiskFull.Name && !mayMount {
			continue
		}
		for _, after := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
			timeline, err := NewTimeline([]Spec{{Kind: kind, For: time.Hour}}, World{Postgres: own, Database: dsn})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), after)
			_ = timeline.Run(ctx, time.Now(), make(recorder, 4))
			cancel()
			healthy(t, dsn, nil)
		}
	}
}

func TestALockedTableIsWaitedFor(t *testing.T) {
	own, dsn := ownPostgres(t)
	w := World{Postgres: own, Database: dsn}
	waiting, watching := open(t, dsn), open(t, dsn)
	served := make(chan string, 1)
	healed := struck(t, Spec{Kind: "postgres-table-lock"}, w, func() {
		go func() { served <- codeOf(waiting, insertSQL) }()
		awaitFelt(t, func() bool {
			var n int
			return watching.QueryRow(t.Context(), waitingSQL, keyTable).Scan(&n) == nil && n == 1
		})
		if code := codeOf(watching, `SET lock_timeout = 1; SELECT * FROM idempotency_keys`); code != "55P03" {
			t.Errorf("who does not wait meets %s", code)
		}
		if code := codeOf(watching, `CREATE TABLE other ()`); code != "" {
			t.Errorf("another table: %s", code)
		}
	})
	if code := <-served; code != "" {
		t.Errorf("who has waited meets %s", code)
	}
	if !healed.Total || !strings.HasPrefix(healed.On, "store") {
		t.Errorf("total %t, on %q", healed.Total, healed.On)
	}
	healthy(t, dsn, waiting)
	interrupt(t, Spec{Kind: "postgres-table-lock"}, w)
	healthy(t, dsn, waiting)
}

// A lock on a table of the handlers' is no outage of the key store.
func TestALockOnAnotherTableStrikesTheHandlers(t *testing.T) {
	f := Fault{Spec: Spec{Kind: "postgres-table-lock", Table: "accounts"}.complete(), kind: postgresTableLock}
	if e := f.event(history.FaultBegan, 0); e.Total || !strings.HasPrefix(e.On, "database") {
		t.Errorf("total %t, on %q", e.Total, e.On)
	}
}

func TestAKilledPgBouncerComesBack(t *testing.T) {
	bouncer, err := cluster.StartBouncer(t.Context(), pgcluster.BouncerOptions{Database: "postgres", Clients: 10, Sessions: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer bouncer.Kill()
	healed := struck(t, Spec{Kind: "pgbouncer-kill"}, World{Bouncer: bouncer}, func() {
		if once(t.Context(), bouncer.DSN()) == nil {
			t.Error("it answers")
		}
	})
	if err := once(t.Context(), bouncer.DSN()); err != nil {
		t.Errorf("after healing: %v", err)
	}
	if !healed.Total || healed.On != "pgbouncer" {
		t.Errorf("total %t, on %q", healed.Total, healed.On)
	}
}

func TestADiskThatIsNotSmallCannotBeFilled(t *testing.T) {
	_, err := NewTimeline([]Spec{{Kind: "postgres-disk-full", For: time.Second}}, World{Postgres: cluster})
	if !errors.Is(err, pgcluster.ErrNoSmallDisk) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if !NeedsSmallDisk([]Spec{{Kind: "path-hang"}, {Kind: "postgres-disk-full"}}) || NeedsSmallDisk([]Spec{{Kind: "postgres-kill"}}) {
		t.Error("it is not known which faults fill the disk")
	}
}

// What works on the tables cannot do so while another fault keeps it from them.
func TestFaultsThatUseTheDatabaseAndOnesThatDenyItAreKeptApart(t *testing.T) {
	second := time.Second
	cleanup, lock := Spec{Kind: "command", Run: "cleanup", For: second}, Spec{Kind: "postgres-table-lock", For: second}
	readOnly, kill := Spec{Kind: "postgres-read-only", For: second}, Spec{Kind: "postgres-kill", For: second}
	hang := Spec{Kind: "path-hang", For: second, On: Store}
	for _, pair := range [][2]Spec{
		{cleanup, lock},
		{cleanup, readOnly},
		{lock, kill},
		{lock, readOnly},
		{readOnly, kill},
		{lock, lock},
		{{Kind: "records-expire", For: second}, readOnly},
	} {
		for _, specs := range [][]Spec{{pair[0], pair[1]}, {pair[1], pair[0]}} {
			if err := ValidateAll(specs); err == nil || !strings.HasPrefix(err.Error(), "faults[1]: it overlaps faults[0]") {
				t.Errorf("%s beside %s: %v", specs[1].Kind, specs[0].Kind, err)
			}
		}
		pair[1].At = second
		if err := ValidateAll(pair[:]); err != nil {
			t.Errorf("apart in time: %v", err)
		}
	}
	for _, specs := range [][]Spec{{hang, lock}, {hang, readOnly}, {{Kind: "provider-down", For: second}, readOnly}} {
		if err := ValidateAll(specs); err != nil {
			t.Errorf("%s beside %s: %v", specs[0].Kind, specs[1].Kind, err)
		}
	}
	if err := ValidateAll([]Spec{{Kind: "postgres-read-only", For: second, Replica: 1}}); err == nil {
		t.Error("a server is read-only for one replica")
	}
}
