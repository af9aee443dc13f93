package claim

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// ErrViolated is wrapped by the error of a benchmark that saw at-most-once broken: what it measured is the speed of something wrong.
var ErrViolated = errors.New("at-most-once is broken")

const (
	// secondExecutions are keys with more than one committed run of the action.
	secondExecutions = `
		SELECT idem_key || ' (user ' || user_id || ', ' || count(DISTINCT execution_id) || ' executions)'
		FROM paper_orders WHERE idem_key IS NOT NULL
		GROUP BY idem_key, user_id, endpoint HAVING count(DISTINCT execution_id) > 1 ORDER BY 1 LIMIT 3`
	executions = `SELECT count(DISTINCT execution_id) FROM paper_orders`
)

// judge reads the orders that a measurement and its warm-up left behind. acked is how many the server said that it placed.
func (l *load) judge(ctx context.Context, acked int64) error {
	var placed int64
	if err := l.db.admin.QueryRow(ctx, executions).Scan(&placed); err != nil {
		return fmt.Errorf("count the orders: %w", err)
	}
	if placed < acked {
		return fmt.Errorf("%w: %d orders were acknowledged, and %d are there", ErrViolated, acked, placed)
	}
	if l.cell.Series == bench.Unprotected {
		return nil
	}
	rows, err := l.db.admin.Query(ctx, secondExecutions)
	if err != nil {
		return fmt.Errorf("look for second executions: %w", err)
	}
	twice, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return fmt.Errorf("look for second executions: %w", err)
	case len(twice) > 0:
		return fmt.Errorf("%w: executed more than once: key %s", ErrViolated, strings.Join(twice, ", "))
	}
	return nil
}
