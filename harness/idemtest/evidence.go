package idemtest

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

type execution = evidence.Execution

// Evidence is one place where executions can be counted: SQL, Pgx, Database or Count. It is read after each scenario, when no request is handled
// any more.
//
// A query gives one row for each committed execution, in a column "key" that holds the idempotency key, or a column "token" that holds what
// {{unique}} was, for services that do not store keys. A column "id" names the row; all columns are shown in a counterexample. Rows of other
// keys are left out, so that a query need not choose.
type Evidence struct {
	name string
	read func(context.Context, harness.Asked) ([]execution, error)
}

// SQL reads executions by a query through db, of whatever driver.
func SQL(db *sql.DB, query string) Evidence {
	return Evidence{name: "SQL", read: func(ctx context.Context, a harness.Asked) ([]execution, error) {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return nil, refused(query, err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return nil, refused(query, err)
		}
		t, err := newTable(columns, a)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			values, places := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				places[i] = &values[i]
			}
			if err := rows.Scan(places...); err != nil {
				return nil, refused(query, err)
			}
			t.add(values)
		}
		return t.found, refused(query, rows.Err())
	}}
}

// PgxQuerier is a pgxpool.Pool, a pgx.Conn or a pgx.Tx.
type PgxQuerier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Pgx reads executions by a query through a pool or connection of pgx.
func Pgx(db PgxQuerier, query string) Evidence {
	return Evidence{name: "Pgx", read: func(ctx context.Context, a harness.Asked) ([]execution, error) {
		rows, err := db.Query(ctx, query)
		if err != nil {
			return nil, refused(query, err)
		}
		defer rows.Close()
		var columns []string
		for _, field := range rows.FieldDescriptions() {
			columns = append(columns, field.Name)
		}
		t, unnamed := newTable(columns, a)
		for unnamed == nil && rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return nil, refused(query, err)
			}
			t.add(values)
		}
		rows.Close()
		if err := rows.Err(); err != nil { // of a refused query there are no columns either
			return nil, refused(query, err)
		}
		return t.found, unnamed
	}}
}

// Database reads executions by a query in the PostgreSQL database at dsn, on a connection of its own.
func Database(dsn, query string) Evidence {
	return Evidence{name: "Database", read: func(ctx context.Context, a harness.Asked) ([]execution, error) {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return nil, err
		}
		defer conn.Close(ctx)
		return Pgx(conn, query).read(ctx, a)
	}}
}

// Count asks a function how often a key was executed, such as one that counts calls of a payment provider's double. It may be called at any time
// while no request is handled, for each key of a run.
func Count(count func(ctx context.Context, key string) (int, error)) Evidence {
	return Evidence{name: "Count", read: func(ctx context.Context, a harness.Asked) (found []execution, err error) {
		for _, key := range a.Keys {
			n, err := count(ctx, key)
			if err != nil {
				return nil, fmt.Errorf("key %s: %w", key, err)
			}
			for i := range n {
				found = append(found, execution{ID: strconv.Itoa(i + 1), Name: key, Columns: map[string]string{"key": key, "count": strconv.Itoa(n)}})
			}
		}
		return found, nil
	}}
}

// named gives each source a name of its own.
func named(list []Evidence) (out []Evidence) {
	seen := map[string]int{}
	for _, e := range list {
		if seen[e.name]++; seen[e.name] > 1 {
			e.name = fmt.Sprintf("%s-%d", e.name, seen[e.name])
		}
		out = append(out, e)
	}
	return out
}

// refused is about a query that the database does not take.
func refused(query string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w %q is refused by the database: %w", evidence.ErrQuery, query, err)
}
