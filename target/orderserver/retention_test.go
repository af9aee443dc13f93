package orderserver_test

import (
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/migrations"
	"github.com/idemstorm/idemstorm/target/idempotency"
	"github.com/idemstorm/idemstorm/target/orderserver"
)

func TestCleanupTakesWhatExpiredAndNothingElse(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	live := newKey()
	r.do(url, call{keys: live})
	r.exec(`INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, status, created_at, expires_at)
		SELECT 'k' || n, 1, 'e', 'h', (ARRAY['completed', 'failed', 'in_flight'])[1 + n % 3], NOW() - INTERVAL '2 days', NOW() - INTERVAL '1 day'
		FROM generate_series(1, 30) n`)
	n := must(idempotency.SweepAll(t.Context(), idempotency.ExpirySweeper{}, r.db, 7))
	if n != 20 || r.count(`SELECT count(*) FROM idempotency_keys WHERE status = 'in_flight'`) != 10 || r.count(recordsOf, live[0]) != 1 {
		t.Fatalf("%d removed, want the 20 that are expired and final", n)
	}
}

func TestServerSweepsAtItsInterval(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := newKey()
	r.do(url, call{keys: key})
	r.exec(`UPDATE idempotency_keys SET expires_at = NOW() - INTERVAL '1 second'`)
	stop := r.run(func(c *orderserver.Config) { c.CleanupEvery = 20 * time.Millisecond })
	r.eventually("sweep", func() bool { return r.count(recordsOf, key[0]) == 0 })
	stop()
}

func TestExportShowsWhatIsKeptOfAUser(t *testing.T) {
	r := newRig(t)
	url := r.serve(nil)
	key := newKey()
	r.do(url, call{keys: key})
	r.do(url, call{keys: newKey(), token: r.seed.Users[1].Token})
	records := must(orderserver.Export(t.Context(), r.db, 1))
	if len(records) != 1 || records[0].Key != key[0] || records[0].Status != "completed" || *records[0].ResponseCode != 201 {
		t.Fatalf("export: %+v", records)
	}
	if none := must(orderserver.Export(t.Context(), r.db, 3)); none == nil || len(none) != 0 {
		t.Fatalf("export of a user without records: %+v", none)
	}
}

func TestMigrationsGoUpAndDownAndUpAgain(t *testing.T) {
	r := newRig(t)
	all := must(migrations.Status(t.Context(), r.dsn))
	if n := must(migrations.Down(t.Context(), r.dsn)); n != len(all) {
		t.Fatalf("%d steps down, want %d", n, len(all))
	}
	if n := r.count(`SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version'`); n != 0 {
		t.Fatalf("%d tables left", n)
	}
	if n := must(migrations.Up(t.Context(), r.dsn)); n != len(all) {
		t.Fatalf("%d steps up, want %d", n, len(all))
	}
	for _, s := range must(migrations.Status(t.Context(), r.dsn)) {
		if !s.Applied {
			t.Errorf("%s is not applied", s.Name)
		}
	}
	if n := must(migrations.Up(t.Context(), r.dsn)); n != 0 {
		t.Fatalf("%d steps up when all are applied", n)
	}
}
