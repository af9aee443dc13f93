package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// column says how one named column of a query fills one field of a row of type T.
type column[T any] struct {
	name     string
	required bool
	set      func(row *T, text string) error
}

// table reads the rows of one query. The order of the query's columns is free; their names are not.
type table[T any] struct {
	query   string // name of the query, for errors
	columns []column[T]
}

// read runs sql and gives its rows; an empty sql gives nil, and no rows an empty slice.
func (t table[T]) read(ctx context.Context, tx pgx.Tx, sql string) ([]T, error) {
	if strings.TrimSpace(sql) == "" {
		return nil, nil
	}
	// Text for every column: a subject may keep an id as int, text, uuid or numeric, and all of them read alike.
	rows, err := tx.Query(ctx, sql, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return nil, fmt.Errorf("run the %s query: %w", t.query, err)
	}
	defer rows.Close()
	found := []T{}
	var setters []column[T]
	for rows.Next() {
		if setters == nil {
			if setters, err = t.match(rows); err != nil {
				return nil, err
			}
		}
		row, err := t.fill(setters, rows.RawValues())
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("run the %s query: %w", t.query, err)
	}
	if setters == nil { // a wrong column is an error even while the table is empty
		if _, err := t.match(rows); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// match pairs the query's columns with their setters.
func (t table[T]) match(rows pgx.Rows) ([]column[T], error) {
	var setters []column[T]
	var names []string
	for _, f := range rows.FieldDescriptions() {
		i := slices.IndexFunc(t.columns, func(c column[T]) bool { return c.name == f.Name })
		if i < 0 {
			return nil, fmt.Errorf("%s query: column %q is none of %s", t.query, f.Name, t.names())
		}
		setters = append(setters, t.columns[i])
		names = append(names, f.Name)
	}
	for _, c := range t.columns {
		if c.required && !slices.Contains(names, c.name) {
			return nil, fmt.Errorf("%s query: column %q is missing", t.query, c.name)
		}
	}
	return setters, nil
}

func (t table[T]) fill(setters []column[T], values [][]byte) (row T, err error) {
	for i, c := range setters {
		if values[i] == nil { // NULL leaves the zero value
			continue
		}
		if err := c.set(&row, string(values[i])); err != nil {
			return row, fmt.Errorf("%s query: column %q: %w", t.query, c.name, err)
		}
	}
	return row, nil
}

func (t table[T]) names() string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}
