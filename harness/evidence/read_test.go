package evidence

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	seedUsers = `
INSERT INTO users (email) VALUES ('a@example.org'), ('b@example.org');
INSERT INTO accounts VALUES (1, 1000.10), (2, 0);
INSERT INTO positions (user_id, symbol, quantity) VALUES (1, 'AAPL', 3), (1, 'SOLD', 0)`
	seedRows = `
INSERT INTO paper_orders (execution_id, leg, user_id, endpoint, idem_key, operation_id, symbol, side, order_type, quantity, price,
                          amount, status, created_at)
VALUES ('00000000-0000-4000-8000-00000000000a', 1, 1, 'POST /o', 'k', '17', 'AAPL', 'buy', 'market', 3, 1.25, -3.75, 'filled',
        '2026-01-02 03:04:05.678+02'),
       ('00000000-0000-4000-8000-00000000000b', 1, 1, 'POST /o', NULL, 'foreign-trace', 'AAPL', 'sell', 'market', 1, 1, 1, 'open',
        '2026-01-02 03:04:05+00');
INSERT INTO audit_log (execution_id, user_id, endpoint, idem_key, operation_id, action, request_hash, response_code)
VALUES ('00000000-0000-4000-8000-00000000000a', 1, 'POST /o', 'k', '17', 'order', 'h', 201),
       (NULL, 1, 'POST /o', 'k', '18', 'idempotency_replay', 'h', 201);
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, response_code, response_body, status,
                              created_at, locked_at, expires_at)
VALUES ('k', 1, 'POST /o', 'h', 201, '{"a": 1.50}', 'completed', 'epoch', 'epoch', timestamptz 'epoch' + interval '1 day'),
       ('s', NULL, 'POST /w', 'h', NULL, NULL, 'in_flight', 'epoch', 'epoch', timestamptz 'epoch' + interval '1 hour')`
)

func TestBundledQueriesReadTheBundledTables(t *testing.T) {
	dsn := database(t, append(bundledSchema(t), seedUsers, seedRows)...)
	set, err := Read(t.Context(), dsn, Bundled())
	if err != nil {
		t.Fatal(err)
	}
	for i := range set.Audits {
		set.Audits[i].At = ""
	}
	for i := range set.Replays {
		set.Replays[i].At = ""
	}
	want := Set{
		Schema: Schema,
		Closing: []Account{
			{User: 1, CashCents: 100010, Positions: map[string]int64{"AAPL": 3}},
			{User: 2, Positions: map[string]int64{}},
		},
		Orders: []Order{
			{
				ID: "1", Execution: "00000000-0000-4000-8000-00000000000a", Leg: 1, User: 1, Endpoint: "POST /o", Key: "k", Operation: 17,
				Symbol: "AAPL", Side: "buy", Quantity: 3, AmountCents: -375, Status: "filled", At: "2026-01-02T01:04:05.678Z",
			},
			{
				ID: "2", Execution: "00000000-0000-4000-8000-00000000000b", Leg: 1, User: 1, Endpoint: "POST /o",
				Symbol: "AAPL", Side: "sell", Quantity: 1, AmountCents: 100, Status: "open", At: "2026-01-02T03:04:05Z",
			},
		},
		Audits: []Audit{{
			ID: "1", Execution: "00000000-0000-4000-8000-00000000000a", User: 1, Endpoint: "POST /o", Key: "k", Operation: 17,
			Action: "order", Hash: "h", Code: 201,
		}},
		Replays: []Audit{{
			ID: "2", User: 1, Endpoint: "POST /o", Key: "k", Operation: 18, Action: "idempotency_replay", Hash: "h", Code: 201,
		}},
		Records: []Record{
			{ID: "1", Key: "k", User: 1, Endpoint: "POST /o", Hash: "h", Status: "completed", Code: 201, Body: `{"a": 1.50}`, ExpiresUS: 86400e6},
			{ID: "2", Key: "s", Endpoint: "POST /w", Hash: "h", Status: "in_flight", ExpiresUS: 3600e6},
		},
	}
	if diff := cmp.Diff(want, set); diff != "" {
		t.Error(diff)
	}
	opening, err := ReadAccounts(t.Context(), dsn, Bundled())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Closing, opening); diff != "" {
		t.Error(diff)
	}
}

func TestColumnsReadAlikeWhateverTheirType(t *testing.T) {
	dsn := database(t)
	for _, types := range []string{
		`7::int AS id, 4::smallint AS "user", 3::numeric(9,2) AS quantity`,
		`'7'::text AS id, '4'::text AS "user", 3.00 AS quantity`,
		`7::bigint AS id, 4.0 AS "user", '3'::varchar AS quantity`,
	} {
		set, err := Read(t.Context(), dsn, Queries{Orders: "SELECT " + types + ", 'POST /o' AS endpoint, NULL AS key"})
		if err != nil {
			t.Fatal(err)
		}
		want := []Order{{ID: "7", User: 4, Quantity: 3, Endpoint: "POST /o"}}
		if diff := cmp.Diff(want, set.Orders); diff != "" {
			t.Errorf("%s: %s", types, diff)
		}
	}
}

func TestAQueryThatIsNotNamedLeavesNilAndAnEmptyTableAnEmptySlice(t *testing.T) {
	dsn := database(t)
	set, err := Read(t.Context(), dsn, Queries{Orders: `SELECT 1 AS id, 1 AS "user", '' AS endpoint, '' AS key WHERE false`})
	if err != nil {
		t.Fatal(err)
	}
	if set.Orders == nil || len(set.Orders) != 0 {
		t.Errorf("orders: %v", set.Orders)
	}
	if set.Audits != nil || set.Records != nil || set.Closing != nil {
		t.Errorf("what was not asked is there: %+v", set)
	}
}

func TestAWrongColumnIsNamed(t *testing.T) {
	dsn := database(t)
	cases := []struct{ name, sql, want string }{
		{"unknown", `SELECT 1 AS id, 1 AS usr`, `orders query: column "usr" is none of id, execution,`},
		{"missing", `SELECT 1 AS id, 1 AS "user", 'x' AS endpoint`, `orders query: column "key" is missing`},
		{"missing of no rows", `SELECT 1 AS id WHERE false`, `orders query: column "user" is missing`},
		{"no number", `SELECT 1 AS id, 'x' AS "user", '' AS endpoint, '' AS key`, `orders query: column "user": "x" is not a whole number`},
		{"no cents", `SELECT 1 AS id, 1 AS "user", '' AS endpoint, '' AS key, 1.25 AS amount_cents`, `column "amount_cents": "1.25" is not a whole`},
		{"broken SQL", `SELECT FROM nowhere`, `run the orders query:`},
		{"a write", `CREATE TABLE t (i int)`, `read-only transaction`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(t.Context(), dsn, Queries{Orders: c.sql})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestAllRowsAreOfOneMoment(t *testing.T) {
	dsn := database(t, `CREATE TABLE o (id int)`)
	// A snapshot shows its own age: both queries must see the same one.
	const moment = `SELECT 1 AS id, 1 AS "user", '' AS endpoint, '' AS key, pg_current_snapshot()::text AS `
	set, err := Read(t.Context(), dsn, Queries{Orders: moment + "symbol", Audits: moment + "action"})
	if err != nil {
		t.Fatal(err)
	}
	if set.Orders[0].Symbol != set.Audits[0].Action {
		t.Errorf("two snapshots: %s and %s", set.Orders[0].Symbol, set.Audits[0].Action)
	}
}

func TestADatabaseThatIsNotThereIsAnError(t *testing.T) {
	if _, err := Read(t.Context(), cluster.DSN("nowhere"), Queries{}); err == nil {
		t.Error("no error")
	}
}
