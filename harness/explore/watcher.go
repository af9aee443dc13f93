package explore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// blockersSQL asks for each backend which backends it waits for. Only heavyweight locks show; a backend that sleeps or computes
// waits for nobody.
const blockersSQL = `SELECT pid, pg_blocking_pids(pid) FROM unnest($1::int[]) AS pid`

// watcher asks the database who waits for whom, over a connection of its own. After a crash of the database it connects again.
type watcher struct {
	dsn  string
	conn *pgx.Conn
}

// blockers gives the backends that each of pids waits for.
func (w *watcher) blockers(ctx context.Context, pids []int32) (map[int32][]int32, error) {
	if err := w.connected(ctx); err != nil {
		return nil, err
	}
	rows, err := w.conn.Query(ctx, blockersSQL, pids)
	if err != nil {
		return nil, fmt.Errorf("ask who waits for whom: %w", err)
	}
	out := map[int32][]int32{}
	var pid int32
	var by []int32
	_, err = pgx.ForEachRow(rows, []any{&pid, &by}, func() error {
		out[pid] = by
		by = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask who waits for whom: %w", err)
	}
	return out, nil
}

func (w *watcher) connected(ctx context.Context) error {
	if !w.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return fmt.Errorf("watch the database: %w", err)
	}
	w.conn = conn
	return nil
}

func (w *watcher) close(ctx context.Context) error { return w.conn.Close(ctx) }
