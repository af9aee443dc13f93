package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// States of records that a spec may name.
const (
	stateAll      = ""
	stateFinal    = "final"
	stateInFlight = "in_flight"
)

// None of these kinds moves locked_at, the claim's own clock and half of its fence. A worker that is alive would lose its claim by it, which no
// passing of time and no wrong clock of a server can do: claims that are stale are had by stopping their workers (replica-kill, replica-pause).

// checkRecords is the Check of what all these kinds take.
func checkRecords(s Spec) error {
	if s.Run != "" && s.Run != runCleanup {
		return fmt.Errorf("run: %q is not %s", s.Run, runCleanup)
	}
	if !slices.Contains([]string{stateAll, stateFinal, stateInFlight}, s.State) {
		return fmt.Errorf("state: %q is neither %s nor %s", s.State, stateFinal, stateInFlight)
	}
	return nil
}

// aged is a record that was made older.
type aged struct { // in the order of agedSQL
	Key      string
	Endpoint string
	User     int64
	Final    bool
}

// agedSQL returns what an UPDATE changed; a record that was made older keeps its length of life, as one that time has made older does.
const agedSQL = `
RETURNING idem_key, scope_endpoint, COALESCE(scope_user_id, 0)::bigint, status <> 'in_flight'`

var errNoRecords = errors.New("records: this subject's key store cannot be reached")

// canChange says whether the run has what these kinds need.
func (w World) canChange(s Spec) bool {
	return w.Database != "" && w.Note != nil && (s.Run == "" || w.Command != nil)
}

// change makes a job of an UPDATE on the key store, past all proxies. Final records that it made expire are noted: their keys may run once more.
func (w World) change(sql string, expires bool, args ...any) func(context.Context) (int64, error) {
	return func(ctx context.Context) (int64, error) {
		list, err := changeRecords(ctx, w.Database, sql+agedSQL, args)
		for _, r := range list {
			if expires && r.Final {
				w.Note(noteExpired, fmt.Sprintf("%s %d %s", r.Key, r.User, r.Endpoint))
			}
		}
		return int64(len(list)), err
	}
}

// thenRun is do and, where the spec says so, the cleanup after it: two faults could not be sure of their order.
func (w World) thenRun(s Spec, do func(context.Context) (int64, error)) func(context.Context) (int64, error) {
	if s.Run == "" {
		return do
	}
	return func(ctx context.Context) (int64, error) {
		n, err := do(ctx)
		if err != nil {
			return n, err
		}
		return n, w.Command(ctx, s.Run)
	}
}

// noteExpired is the kind of the note that a final record is past its life.
const noteExpired = "expired"

func changeRecords(ctx context.Context, dsn, sql string, args []any) ([]aged, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("reach the key store: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("make records older: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[aged])
	if err != nil {
		return nil, fmt.Errorf("make records older: %w", err)
	}
	return list, nil
}
