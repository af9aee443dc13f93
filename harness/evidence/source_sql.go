package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrQuery is wrapped by errors about SQL that the database refuses, or that lacks a column.
var ErrQuery = errors.New("the query")

// foreignSQL asks for those rows of a target's own query that name a key of the run. Some services store keys with their quotation marks.
const foreignSQL = `
SELECT %[2]s::text AS id, btrim(executions.%[1]s::text, '"') AS name, to_jsonb(executions.*)::text AS "row"
FROM (%[3]s) AS executions
WHERE btrim(executions.%[1]s::text, '"') = ANY($1)`

// FromSQL runs a target's own query and keeps the rows whose column by is one of names.
func FromSQL(ctx context.Context, dsn, sql, by string, names []string) (list []Execution, err error) {
	err = snapshot(ctx, dsn, func(tx pgx.Tx) error {
		sql = strings.TrimRight(strings.TrimSpace(sql), ";")
		id, err := identity(ctx, tx, sql, by)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, fmt.Sprintf(foreignSQL, by, id, sql), names)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrQuery, err)
		}
		list, err = pgx.CollectRows(rows, executionRow)
		return err
	})
	return list, err
}

// identity is the expression that names a row of the query.
func identity(ctx context.Context, tx pgx.Tx, sql, by string) (string, error) {
	described, err := tx.Prepare(ctx, "", sql)
	if err != nil {
		return "", fmt.Errorf("%w is refused by the database: %w", ErrQuery, err)
	}
	var columns []string
	for _, f := range described.Fields {
		columns = append(columns, f.Name)
	}
	if !slices.Contains(columns, by) {
		return "", fmt.Errorf("%w has the columns %s; name one of them %s, as in SELECT order_ref AS %s FROM orders", ErrQuery, strings.Join(columns, ", "), by, by)
	}
	if slices.Contains(columns, "id") {
		return "executions.id", nil
	}
	return "row_number() OVER ()", nil
}

func executionRow(r pgx.CollectableRow) (e Execution, err error) {
	var row string
	if err := r.Scan(&e.ID, &e.Name, &row); err != nil {
		return e, err
	}
	e.Columns, err = columnsOf([]byte(row))
	return e, err
}
