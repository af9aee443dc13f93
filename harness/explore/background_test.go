package explore

import (
	"testing"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

func one(kind pgwire.Kind, tx byte, sql string) *pgwire.Step {
	return &pgwire.Step{Kind: kind, TxStatus: tx, Executes: []pgwire.Statement{{SQL: sql}}}
}

// What passes unheld must be such that its place in an order means nothing; in a transaction nothing is, since it may take the snapshot.
func TestOnlyWhatNobodyElseCanSeePassesUnheld(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT 1":                        true,
		"select 1;":                       true,
		"SELECT 1 AS ok":                  true,
		"SELECT version()":                true,
		"SET statement_timeout = '30s'":   true,
		"SET SESSION lock_timeout TO 100": true,
		"SET TIME ZONE 'UTC'":             true,
		"LISTEN jobs":                     true,
		"SHOW server_version":             true,
		"":                                true,
		"SET search_path = shop":          false,
		"SET ROLE shop":                   false,
		"SET default_transaction_isolation = 'serializable'":                      false,
		"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE": false,
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE":                            false,
		"SELECT place_order(1)":                                                   false,
		`SELECT "ok"()`:                                                           false,
		"SELECT ok()":                                                             false,
		"SELECT 1 FROM orders":                                                    false,
		"SELECT pg_advisory_lock(1)":                                              false,
		"NOTIFY jobs":                                                             false,
		"SELECT 1; DELETE FROM orders":                                            false,
		"BEGIN":                                                                   false,
		"UPDATE heartbeat SET at = 1":                                             false,
	} {
		for _, kind := range []pgwire.Kind{pgwire.Query, pgwire.Extended} {
			if got := idle(one(kind, 'I', sql)); got != want {
				t.Errorf("%s %q: passes %v", kind, sql, got)
			}
			if idle(one(kind, 'T', sql)) {
				t.Errorf("%s %q passes inside a transaction", kind, sql)
			}
		}
	}
}

func TestOnlyARaceInsideOneSimpleMessageIsReportedAsClosed(t *testing.T) {
	for sql, want := range map[string]bool{
		"INSERT INTO orders (id) VALUES (1)":                        false,
		"INSERT INTO claims (id) VALUES (1) ON CONFLICT DO NOTHING": false,
		"SELECT id FROM orders WHERE id = 1 FOR UPDATE":             false,
		"SELECT id FROM orders":                                     false,
		"UPDATE orders SET id = 1":                                  false,
		"BEGIN":                                                     false,
		"SET search_path = shop":                                    false,
		"INSERT INTO orders SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = 1)":  true,
		"WITH new AS (INSERT INTO a (id) SELECT id FROM b RETURNING id) SELECT id FROM new": true,
		"SELECT place_order(1)":                                     true,
		"SELECT pg_advisory_unlock_all()":                           false,
		"SELECT pg_try_advisory_lock(1, 2)":                         false,
		"SELECT pg_advisory_unlock(place_order(1))":                 true,
		"SELECT pg_advisory_lock(1), place_order(1)":                true,
		"SELECT id FROM orders; INSERT INTO orders (id) VALUES (1)": true,
		"DO 'BEGIN PERFORM place_order(1); END'":                    true,
	} {
		s := &session{}
		if got := s.closed(one(pgwire.Query, 'I', sql)); got != want {
			t.Errorf("%q: closed %v", sql, got)
		}
		if s.closed(one(pgwire.Extended, 'I', sql)) || s.closed(one(pgwire.Query, 'T', sql)) {
			t.Errorf("%q is closed where it can be opened", sql)
		}
	}
}

// The bounds of a transaction are everyone's: passed unheld because a job has them, they would take those of requests with them.
func TestOverheardStatementsAreKnownAgainButNotTheBoundsOfTransactions(t *testing.T) {
	var b background
	b.hear(one(pgwire.Extended, 'I', "UPDATE early SET at = 1"))
	b.listen(true)
	for _, sql := range []string{"BEGIN", "UPDATE heartbeat SET at = 17", "COMMIT", "SELECT 1"} {
		b.hear(one(pgwire.Extended, 'I', sql))
	}
	b.listen(false)
	b.hear(one(pgwire.Extended, 'I', "UPDATE late SET at = 1"))
	for sql, want := range map[string]bool{
		"UPDATE heartbeat SET at = 18": true, "UPDATE early SET at = 1": false, "UPDATE late SET at = 1": false, "BEGIN": false, "COMMIT": false,
		"INSERT INTO orders (id) VALUES (1)": false,
	} {
		if got := b.heard(sql); got != want {
			t.Errorf("%q heard: %v", sql, got)
		}
	}
}
