package explore

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// bundledLike is a catalog with what matters of a server's: parents, children by cascade, a view, and a table with triggers.
var bundledLike = Catalog{
	plain:    map[string]bool{"users": true, "sessions": true, "accounts": true, "keys": true, "orders": true, "audit": true, "v": false, "traced": false},
	parents:  map[string][]string{"sessions": {"users"}, "accounts": {"users"}, "keys": {"users"}},
	children: map[string][]child{"users": {{"sessions", true}, {"accounts", true}, {"keys", true}}, "orders": {{"audit", false}}},
}

func TestFootprints(t *testing.T) {
	for sql, want := range map[string]string{
		"":                                     "nothing",
		"-- ping":                              "nothing",
		"begin":                                "nothing",
		"BEGIN ISOLATION LEVEL READ COMMITTED": "nothing",
		"begin isolation level serializable":   "anything",
		"commit":                               "anything",
		"rollback to sp":                       "anything",
		"SELECT user_id FROM sessions WHERE token_hash = $1 AND expires_at > NOW()": "sessions",
		"select 1": "nothing",
		"SELECT 1 FROM accounts WHERE user_id = $1 FOR UPDATE":                                                                  "accounts*",
		"SELECT * FROM orders o, audit a":                                                                                       "audit orders",
		"SELECT * FROM (SELECT 1) x, audit":                                                                                     "audit",
		"SELECT * FROM unnest($1::int[]) n, orders":                                                                             "orders",
		"INSERT INTO keys (k) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id":                                                  "keys users keys*",
		"INSERT INTO orders (a, b) SELECT $1, $2 WHERE NOT EXISTS (SELECT 1 FROM orders WHERE a=$1)":                            "orders orders*",
		"UPDATE accounts SET cash = cash + $2::numeric(18,2) WHERE user_id = $1 RETURNING cash::text, nextval('orders_id_seq')": "accounts users accounts* sequence orders_id_seq*",
		"WITH found AS (SELECT id FROM keys WHERE k IS NOT DISTINCT FROM $1), audited AS (INSERT INTO audit (a) SELECT id FROM found) SELECT id FROM found": "audit keys audit*",
		"DELETE FROM users WHERE id = $1": "users accounts* keys* sessions* users*",
		"DELETE FROM orders":              "audit orders orders*",
		"UPDATE public.orders SET a = 1":  "audit orders orders*",
		"SELECT * FROM v":                 "anything",
		"INSERT INTO traced VALUES (1)":   "anything",
		"SELECT * FROM unknown_table":     "anything",
		"SELECT f(1)":                     "anything",
		"SELECT pg_advisory_lock(1)":      "anything",
		"SELECT pg_advisory_unlock(1)":    "anything",
		"SELECT pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::text, $2::integer), 0))": "advisory locks*",
		"SELECT set_config('lock_timeout', $1, true)":                                                  "nothing",
		"SELECT set_config('search_path', $1, true)":                                                   "anything",
		"SELECT set_config($1, $2, true)":                                                              "anything",
		"SAVEPOINT action":                                                                             "nothing",
		"RELEASE SAVEPOINT action":                                                                     "nothing",
		"SELECT 1 FROM pg_stat_activity":                                                               "anything",
		"SELECT * FROM other.orders":                                                                   "anything",
		`SELECT "f"(1)`:                                                                                "anything",
		"SET lock_timeout = 1":                                                                         "anything",
		"SELECT 1; DELETE FROM orders":                                                                 "anything",
		"COPY orders FROM STDIN":                                                                       "anything",
		"SELECT 'from v' -- from traced":                                                               "nothing",
		"SELECT $$ from v $$":                                                                          "nothing",
		"TRUNCATE orders":                                                                              "anything",
		"SELECT * INTO x FROM orders":                                                                  "anything",
		"MERGE INTO orders USING audit":                                                                "anything",
	} {
		if got := bundledLike.Footprint(sql).String(); got != want {
			t.Errorf("%s\n got  %s\n want %s", sql, got, want)
		}
	}
}

func TestWithoutACatalogNothingIsIndependent(t *testing.T) {
	if f := (Catalog{}).Footprint("SELECT 1 FROM a"); !f.All {
		t.Errorf("got %v", f)
	}
}

func TestIndependenceIsSymmetricAndNeverAssumed(t *testing.T) {
	footprint := rapid.Custom(func(t *rapid.T) schedule.Footprint {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID)
		return schedule.Footprint{All: rapid.Bool().Draw(t, "all"), Reads: names.Draw(t, "reads"), Writes: names.Draw(t, "writes")}
	})
	rapid.Check(t, func(t *rapid.T) {
		f, g, h := footprint.Draw(t, "f"), footprint.Draw(t, "g"), footprint.Draw(t, "h")
		if schedule.Independent(f, g) != schedule.Independent(g, f) {
			t.Fatal("not symmetric")
		}
		if schedule.Independent(f.Union(h), g) && !schedule.Independent(f, g) {
			t.Fatal("touching more cannot make two steps independent")
		}
		if len(f.Writes) > 0 && schedule.Independent(f, f) {
			t.Fatal("two writes of one table commute with nothing")
		}
	})
}

func FuzzUnderstand(f *testing.F) {
	for _, seed := range []string{"select 1", "insert into a values ('x''y')", "e'\\'", "$a$ b $a$", "/* /* */ */", `"`, "with a as (", "from", "delete from", "nextval("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		understand(sql)
		normal(sql)
		bundledLike.Footprint(sql)
	})
}
