package fault

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// recordsTable has the columns of contract section 2 that the passing of time is about.
const recordsTable = `
CREATE TABLE idempotency_keys (
    idem_key text, scope_user_id integer, scope_endpoint text, status text,
    created_at timestamptz DEFAULT now(), locked_at timestamptz DEFAULT now(), expires_at timestamptz DEFAULT now() + interval '24 hours'
);
INSERT INTO idempotency_keys VALUES ('k1', 7, 'POST /o', 'completed'), ('k2', NULL, 'POST /o', 'failed'), ('k3', 8, 'POST /o', 'in_flight')`

type life struct {
	Key              string
	Left, Whole, Age time.Duration // to its expiry, from end to end, since it was locked
}

func recordsOf(t *testing.T) (World, *notes, func() map[string]life) {
	t.Helper()
	if err := cluster.CreateDatabase(t.Context(), "records"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.DropDatabase(context.Background(), "records"); err != nil {
			t.Error(err)
		}
	})
	conn, err := pgx.Connect(t.Context(), cluster.DSN("records"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), recordsTable); err != nil {
		t.Fatal(err)
	}
	read := func() map[string]life {
		rows, err := conn.Query(t.Context(), `SELECT idem_key, expires_at - now(), expires_at - created_at, now() - locked_at FROM idempotency_keys`)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[life])
		if err != nil {
			t.Fatal(err)
		}
		lives := map[string]life{}
		for _, l := range list {
			lives[l.Key] = l
		}
		return lives
	}
	told := &notes{}
	return World{Database: cluster.DSN("records"), Note: told.add}, told, read
}

func check(t *testing.T, lives map[string]life, key string, left time.Duration) {
	t.Helper()
	l := lives[key]
	if (l.Left-left).Abs() > time.Minute || l.Whole != 24*time.Hour || l.Age > time.Minute {
		t.Errorf("%s has %v left of %v and was locked %v ago, want %v left", key, l.Left, l.Whole, l.Age, left)
	}
}

func TestAgedRecordsStayAlive(t *testing.T) {
	w, told, read := recordsOf(t)
	healed := struck(t, Spec{Kind: "records-age", By: 23 * time.Hour}, w, func() {})
	for _, key := range []string{"k1", "k2", "k3"} {
		check(t, read(), key, time.Hour)
	}
	if healed.Bit != 3 || len(told.list) != 0 {
		t.Errorf("%d records, told %q", healed.Bit, told.list)
	}
}

func TestAgeNeverKills(t *testing.T) {
	w, _, read := recordsOf(t)
	timeline, err := NewTimeline([]Spec{{Kind: "records-age", By: 25 * time.Hour}}, w)
	if err != nil {
		t.Fatal(err)
	}
	if err := timeline.faults[0].strike.Inject(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, read(), "k1", 24*time.Hour)
}

func TestFinalRecordsExpireForGoodAndTheChecksKnow(t *testing.T) {
	w, told, read := recordsOf(t)
	struck(t, Spec{Kind: "records-expire", State: "final"}, w, func() {})
	lives := read()
	check(t, lives, "k3", 24*time.Hour)
	if lives["k1"].Left >= 0 || lives["k2"].Left >= 0 {
		t.Errorf("%v and %v are left", lives["k1"].Left, lives["k2"].Left)
	}
	slices.Sort(told.list)
	if want := []string{"expired k1 7 POST /o", "expired k2 0 POST /o"}; !slices.Equal(told.list, want) {
		t.Errorf("the checks are told %q", told.list)
	}
}

func TestRecordsInFlightGetTheirLifeBack(t *testing.T) {
	w, told, read := recordsOf(t)
	struck(t, Spec{Kind: "records-expire", State: "in_flight"}, w, func() {
		lives := read()
		check(t, lives, "k1", 24*time.Hour)
		if lives["k3"].Left >= 0 {
			t.Errorf("%v is left", lives["k3"].Left)
		}
	})
	check(t, read(), "k3", 24*time.Hour)
	if len(told.list) != 0 {
		t.Errorf("the checks are told %q", told.list)
	}
}

func TestCleanupFindsTheRecordsExpired(t *testing.T) {
	w, _, read := recordsOf(t)
	w.Command = func(context.Context, ...string) error {
		if left := read()["k3"].Left; left >= 0 {
			t.Errorf("%v is left when cleanup runs", left)
		}
		return nil
	}
	struck(t, Spec{Kind: "records-expire", State: "in_flight", Run: "cleanup"}, w, func() {})
	check(t, read(), "k3", 24*time.Hour)
}
