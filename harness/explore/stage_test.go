package explore_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

const ordersSchema = `CREATE TABLE orders (id bigserial PRIMARY KEY, key text)`

const keyedSchema = ordersSchema + `; CREATE TABLE keys (key text PRIMARY KEY, status text)`

var everyOrder = explore.Options{Preemptions: schedule.Unbounded, KeepGoing: true}

// reads makes k statements that nobody else sees.
func reads(k int) handler {
	return func(ctx context.Context, pool *pgxpool.Pool, key string) int {
		for range k {
			if _, err := pool.Exec(ctx, `SELECT count(*) FROM orders WHERE key = $1`, key); err != nil {
				return http.StatusInternalServerError
			}
		}
		return http.StatusCreated
	}
}

func binomial(n, k int) int {
	out := 1
	for i := 1; i <= k; i++ {
		out = out * (n - k + i) / i
	}
	return out
}

func TestOneStatementTransactionsAreExploredInEveryOrder(t *testing.T) {
	for k := 1; k <= 4; k++ {
		r := open(t, ordersSchema, explore.StageOptions{}, false, reads(k), reads(k))
		got := r.search("", everyOrder)
		if want := binomial(2*k, k); got.Schedules != want || !got.Complete {
			t.Errorf("%d statements each: %d schedules, want C(%d,%d) = %d: %q", k, got.Schedules, 2*k, k, want, got.Open)
		}
	}
}

func TestReadsCommute(t *testing.T) {
	r := open(t, ordersSchema, explore.StageOptions{}, false, reads(4), reads(4))
	o := everyOrder
	o.Reduce = true
	if got := r.search("", o); got.Schedules != 1 {
		t.Errorf("%d schedules, want 1", got.Schedules)
	}
}

const insertWhereNotExists = `INSERT INTO orders (key) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM orders WHERE key = $1)`

func oneStatement(ctx context.Context, pool *pgxpool.Pool, key string) int {
	tag, err := pool.Exec(ctx, insertWhereNotExists, key)
	switch {
	case err != nil:
		return http.StatusInternalServerError
	case tag.RowsAffected() == 0:
		return http.StatusConflict
	}
	return http.StatusCreated
}

func TestARaceInsideOneAutocommittedStatementIsFound(t *testing.T) {
	r := open(t, ordersSchema, explore.StageOptions{}, false, oneStatement, oneStatement)
	got := r.search("same", explore.Options{Preemptions: schedule.Unbounded, Reduce: true, Symmetry: true})
	if got.Violating != 1 || got.Schedule.Preemptions != 1 || len(got.Schedule.Steps) != 4 {
		t.Fatalf("got %+v", got)
	}
	again, err := explore.Replay(t.Context(), r.stage.System(r.scenario("same")), got.Schedule)
	must(t, err)
	if again.Outcome.Signature() != got.Schedule.Outcome.Signature() {
		t.Errorf("replayed to %q", again.Outcome.Signature())
	}
}

// claimed inserts a key first, and the order in a transaction of its own.
func claimed(ctx context.Context, pool *pgxpool.Pool, key string) int {
	tag, err := pool.Exec(ctx, `INSERT INTO keys (key, status) VALUES ($1, 'in_flight') ON CONFLICT DO NOTHING`, key)
	if err != nil {
		return http.StatusInternalServerError
	}
	if tag.RowsAffected() == 0 {
		return http.StatusConflict
	}
	return inTransaction(ctx, pool, key, `INSERT INTO orders (key) VALUES ($1)`, `UPDATE keys SET status = 'completed' WHERE key = $1`)
}

func inTransaction(ctx context.Context, pool *pgxpool.Pool, key string, statements ...string) int {
	status := http.StatusCreated
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, sql := range statements {
			tag, err := tx.Exec(ctx, sql, key)
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				status = http.StatusConflict
				return pgx.ErrTxClosed
			}
		}
		return nil
	})
	if err != nil && status == http.StatusCreated {
		return http.StatusInternalServerError
	}
	return status
}

// claimedInside holds the key's row for as long as the transaction lasts, so that a duplicate waits in the database.
func claimedInside(ctx context.Context, pool *pgxpool.Pool, key string) int {
	return inTransaction(ctx, pool, key, `INSERT INTO keys (key) VALUES ($1) ON CONFLICT DO NOTHING`, `INSERT INTO orders (key) VALUES ($1)`)
}

// raced looks before it writes.
func raced(ctx context.Context, pool *pgxpool.Pool, key string) int {
	var n int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM keys WHERE key = $1`, key).Scan(&n); err != nil {
		return http.StatusInternalServerError
	}
	if n > 0 {
		return http.StatusConflict
	}
	return inTransaction(ctx, pool, key, `INSERT INTO keys (key) VALUES ($1) ON CONFLICT DO NOTHING`, `INSERT INTO orders (key) VALUES ($1)`)
}

// racedUnconstrained has no constraint behind it either.
func racedUnconstrained(ctx context.Context, pool *pgxpool.Pool, key string) int {
	var n int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM orders WHERE key = $1`, key).Scan(&n); err != nil {
		return http.StatusInternalServerError
	}
	if n > 0 {
		return http.StatusConflict
	}
	return inTransaction(ctx, pool, key, `INSERT INTO orders (key) VALUES ($1)`)
}

func outcomes(r schedule.Result) (out []string) {
	for _, c := range r.Outcomes {
		answers := slices.Sorted(slices.Values(c.Outcome.Answers))
		c.Outcome.Answers = answers
		if s := c.Outcome.Signature(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}

func TestReductionReachesTheSameOutcomesOfAServer(t *testing.T) {
	for name, h := range map[string]handler{"claimed": claimed, "claimed inside": claimedInside, "raced": raced, "raced unconstrained": racedUnconstrained} {
		t.Run(name, func(t *testing.T) {
			r := open(t, keyedSchema, explore.StageOptions{}, false, h, h)
			all := r.search("same", everyOrder)
			o := everyOrder
			o.Reduce, o.Symmetry = true, true
			reduced := r.search("same", o)
			if !all.Complete || !reduced.Complete || !slices.Equal(outcomes(all), outcomes(reduced)) {
				t.Errorf("all %d: %q %q\nreduced %d: %q %q", all.Schedules, outcomes(all), all.Open, reduced.Schedules, outcomes(reduced), reduced.Open)
			}
			t.Logf("%d schedules, %d reduced", all.Schedules, reduced.Schedules)
		})
	}
}

func TestADuplicateThatWaitsInTheDatabaseIsSeenAsBlocked(t *testing.T) {
	r := open(t, keyedSchema, explore.StageOptions{}, false, claimedInside, claimedInside)
	r.warm()
	waited := false
	system := watched{r.stage.System(r.scenario("same")), func(m explore.Moment) {
		for _, b := range m.Blocked {
			waited = waited || slices.Equal(b.On, []int{1 - b.Step.Actor})
		}
	}}
	got, err := explore.Search(t.Context(), system, everyOrder)
	must(t, err)
	if !waited || got.Violating > 0 || !got.Complete {
		t.Errorf("waited %v, result %+v", waited, got)
	}
}

// watched shows every moment of a system.
type watched struct {
	explore.System
	see func(explore.Moment)
}

func (w watched) Begin(ctx context.Context) (explore.Run, error) {
	run, err := w.System.Begin(ctx)
	return watchedRun{run, w.see}, err
}

type watchedRun struct {
	explore.Run
	see func(explore.Moment)
}

func (w watchedRun) Settle(ctx context.Context) (explore.Moment, error) {
	m, err := w.Run.Settle(ctx)
	w.see(m)
	return m, err
}

func TestRequestsOfOneProcessAreToldApart(t *testing.T) {
	r := open(t, keyedSchema, explore.StageOptions{}, true, raced, raced)
	got := r.search("same", everyOrder)
	if !got.Complete || got.Violating > 0 {
		t.Errorf("a claim behind a constraint is right: %+v", got)
	}
	r = open(t, keyedSchema, explore.StageOptions{}, true, racedUnconstrained, racedUnconstrained)
	if got := r.search("same", everyOrder); !got.Complete || got.Violating == 0 {
		t.Errorf("a claim without one is not: %+v", got)
	}
}

func open5(r schedule.Result, part string) bool {
	return r.Exit() != 0 && slices.ContainsFunc(r.Open, func(why string) bool { return strings.Contains(why, part) })
}

func TestAServerThatSleepsWeakensTheClaim(t *testing.T) {
	sleeps := func(ctx context.Context, pool *pgxpool.Pool, key string) int {
		if status := reads(1)(ctx, pool, key); status != http.StatusCreated {
			return status
		}
		select {
		case <-time.After(150 * time.Millisecond): // it is this pause that is tested
		case <-ctx.Done():
		}
		return reads(1)(ctx, pool, key)
	}
	r := open(t, ordersSchema, explore.StageOptions{Quiet: 30 * time.Millisecond}, false, sleeps, reads(1))
	if got := r.search("", everyOrder); !open5(got, "outside the database") {
		t.Errorf("exit %d, open %q", got.Exit(), got.Open)
	}
}

func TestTwoConnectionsAtOnceWeakenTheClaim(t *testing.T) {
	both := func(ctx context.Context, pool *pgxpool.Pool, key string) int {
		var wg sync.WaitGroup
		for range 2 { // each runs long enough for the other to arrive beside it
			wg.Go(func() { _, _ = pool.Exec(ctx, `SELECT pg_sleep(0.5)`) })
		}
		wg.Wait()
		return http.StatusCreated
	}
	r := open(t, ordersSchema, explore.StageOptions{}, false, both)
	if got := r.search("", everyOrder); !open5(got, "two connections at once") {
		t.Errorf("exit %d, open %q", got.Exit(), got.Open)
	}
}

func TestAServerThatDoesOtherThingsEachTimeIsReported(t *testing.T) {
	var requests atomic.Int64
	moody := func(ctx context.Context, pool *pgxpool.Pool, key string) int {
		if requests.Add(1)%3 == 0 {
			return inTransaction(ctx, pool, key, `INSERT INTO orders (key) VALUES ($1)`)
		}
		return reads(2)(ctx, pool, key)
	}
	r := open(t, ordersSchema, explore.StageOptions{}, false, moody, moody)
	if got := r.search("", everyOrder); !open5(got, "did not repeat itself") {
		t.Errorf("exit %d, open %q", got.Exit(), got.Open)
	}
}

func TestADeadlockOfTheServersEndsASchedule(t *testing.T) {
	locks := func(first, second string) handler {
		return func(ctx context.Context, pool *pgxpool.Pool, key string) int {
			return inTransaction(ctx, pool, key, `UPDATE keys SET status = $1 WHERE key = '`+first+`'`, `UPDATE keys SET status = $1 WHERE key = '`+second+`'`)
		}
	}
	schema := keyedSchema + `; INSERT INTO keys VALUES ('a'), ('b')`
	r := open(t, schema, explore.StageOptions{}, false, locks("a", "b"), locks("b", "a"))
	o := everyOrder
	o.Preemptions = 1 // each deadlock costs a second
	got := r.search("", o)
	if !got.Complete || !slices.ContainsFunc(outcomes(got), func(s string) bool { return strings.Contains(s, "failed fresh") }) {
		t.Errorf("complete %v, outcomes %q, open %q", got.Complete, outcomes(got), got.Open)
	}
}
