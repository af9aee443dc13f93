package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// keyRows are the rows that name one key: as evidence for the checks, and as text for people.
type keyRows struct {
	set  evidence.Set
	text []schedule.Row
}

// oneKeySQL narrows a subject's own query, so that a schedule costs the reading of its own rows only. As JSON, all types read alike.
const oneKeySQL = `SELECT to_jsonb(found)::text FROM (%s) AS found WHERE found.key = $1`

// reading is one of the subject's queries and where its rows go.
type reading struct {
	table, sql string
	take       func(*evidence.Set, row)
}

func readings(q evidence.Queries) []reading {
	return []reading{
		{"order", q.Orders, func(s *evidence.Set, r row) { s.Orders = append(s.Orders, r.order()) }},
		{"audit", q.Audits, func(s *evidence.Set, r row) { s.Audits = append(s.Audits, r.audit()) }},
		{"replay audit", q.Replays, func(s *evidence.Set, r row) { s.Replays = append(s.Replays, r.audit()) }},
		{"record", q.Records, func(s *evidence.Set, r row) { s.Records = append(s.Records, r.record()) }},
	}
}

// readKey reads all of a key's rows in one round trip. A query that the subject does not name leaves its evidence nil, which the
// checks take for unknown.
func readKey(ctx context.Context, conn *pgx.Conn, q evidence.Queries, key string) (keyRows, error) {
	out := keyRows{set: evidence.Set{Schema: evidence.Schema}}
	batch := &pgx.Batch{}
	for _, r := range readings(q) {
		if r.sql == "" {
			continue
		}
		batch.Queue(fmt.Sprintf(oneKeySQL, r.sql), key).Query(func(rows pgx.Rows) error {
			return out.take(r, rows)
		})
	}
	out.asked(q)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return out, fmt.Errorf("read the rows of key %s: %w", key, err)
	}
	return out, nil
}

// asked tells evidence that was asked for, and may be empty, from evidence that cannot be had.
func (k *keyRows) asked(q evidence.Queries) {
	if q.Orders != "" {
		k.set.Orders = []evidence.Order{}
	}
	if q.Audits != "" {
		k.set.Audits = []evidence.Audit{}
	}
	if q.Replays != "" {
		k.set.Replays = []evidence.Audit{}
	}
	if q.Records != "" {
		k.set.Records = []evidence.Record{}
	}
}

func (k *keyRows) take(r reading, rows pgx.Rows) error {
	for rows.Next() {
		var object string
		if err := rows.Scan(&object); err != nil {
			return err
		}
		fields, err := parseRow(object)
		if err != nil {
			return fmt.Errorf("%s row: %w", r.table, err)
		}
		r.take(&k.set, fields)
		k.text = append(k.text, schedule.Row{Table: r.table, Text: fields.telling()})
	}
	return rows.Err()
}

// row is one row as text, by column; a missing or NULL column is empty.
type row map[string]string

func parseRow(object string) (row, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &values); err != nil {
		return nil, err
	}
	out := row{}
	for name, value := range values {
		var text string
		switch {
		case string(value) == "null":
		case json.Unmarshal(value, &text) == nil:
			out[name] = text
		default:
			out[name] = string(value)
		}
	}
	return out, nil
}

// shownColumns are what a counterexample shows; the rest is the same for all, or noise.
var shownColumns = []string{"id", "status", "symbol", "side", "quantity", "amount_cents", "action", "code", "row"}

func (r row) telling() string {
	var parts []string
	for _, name := range shownColumns {
		if r[name] != "" {
			parts = append(parts, name+" "+r[name])
		}
	}
	return strings.Join(parts, ", ")
}

func (r row) whole(name string) int64 {
	n, _ := strconv.ParseInt(r[name], 10, 64) // what is no number counts as not known
	return n
}

func (r row) order() evidence.Order {
	return evidence.Order{
		ID: r["id"], Execution: r["execution"], Leg: int(r.whole("leg")), User: r.whole("user"), Endpoint: r["endpoint"], Key: r["key"],
		Operation: r.whole("operation"), Symbol: r["symbol"], Side: r["side"], Quantity: r.whole("quantity"),
		AmountCents: r.whole("amount_cents"), Status: r["status"], At: r["at"],
	}
}

func (r row) audit() evidence.Audit {
	return evidence.Audit{
		ID: r["id"], Execution: r["execution"], User: r.whole("user"), Endpoint: r["endpoint"], Key: r["key"],
		Operation: r.whole("operation"), Action: r["action"], Hash: r["hash"], Code: int(r.whole("code")), At: r["at"],
	}
}

func (r row) record() evidence.Record {
	return evidence.Record{
		ID: r["id"], Key: r["key"], User: r.whole("user"), Endpoint: r["endpoint"], Hash: r["hash"], Status: r["status"],
		Code: int(r.whole("code")), Body: r["body"],
		CreatedUS: r.whole("created_us"), LockedUS: r.whole("locked_us"), ExpiresUS: r.whole("expires_us"),
	}
}
