package pgwire_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// ended is a step with what became of it.
type ended struct {
	step    *pgwire.Step
	outcome pgwire.Outcome
}

// recorder is a Controller that keeps all it sees and acts by a function.
type recorder struct {
	act func(context.Context, *pgwire.Step) pgwire.Action

	mu      sync.Mutex
	decided []*pgwire.Step
	ended   []ended
}

func (r *recorder) Decide(ctx context.Context, step *pgwire.Step) pgwire.Action {
	r.mu.Lock()
	r.decided = append(r.decided, step)
	r.mu.Unlock()
	if r.act == nil {
		return pgwire.Action{}
	}
	return r.act(ctx, step)
}

func (r *recorder) Ended(step *pgwire.Step, outcome pgwire.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, ended{step, outcome})
}

// on returns a recorder that acts on the steps whose SQL contains text.
func on(text string, action pgwire.Action) *recorder {
	return &recorder{act: func(_ context.Context, step *pgwire.Step) pgwire.Action {
		if strings.Contains(step.SQL(), text) {
			return action
		}
		return pgwire.Action{}
	}}
}

func (r *recorder) last(t *testing.T, text string) ended {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range slices.Backward(r.ended) {
		if strings.Contains(e.step.SQL(), text) {
			return e
		}
	}
	t.Fatalf("no step with %q ended; %d did", text, len(r.ended))
	return ended{}
}

func (r *recorder) count(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.ended {
		if strings.Contains(e.step.SQL(), text) {
			n++
		}
	}
	return n
}

// stages numbers the tables, which have neutral names: controllers go by SQL.
var stages atomic.Int64

// stage is a table of a test's own, a direct connection and one through a controlled proxy.
type stage struct {
	ctx           context.Context
	table         string
	proxy         *pgwire.Proxy
	direct, proxd *pgx.Conn
}

func newStage(t *testing.T, control pgwire.Controller) *stage {
	t.Helper()
	ctx := bounded(t)
	proxy := listen(t, pgwire.Options{Controller: control, Params: true})
	s := &stage{ctx: ctx, proxy: proxy, direct: connect(ctx, t, cluster.Addr())}
	s.table = fmt.Sprintf("stage%d", stages.Add(1))
	if _, err := s.direct.Exec(ctx, "CREATE TABLE "+s.table+"(n int)"); err != nil {
		t.Fatal(err)
	}
	s.proxd = connect(ctx, t, proxy.Addr())
	return s
}

func (s *stage) insert(n int) error {
	_, err := s.proxd.Exec(s.ctx, "INSERT INTO "+s.table+" VALUES ($1)", n)
	return err
}

func (s *stage) rows(t *testing.T) int {
	t.Helper()
	var n int
	if err := s.direct.QueryRow(s.ctx, "SELECT count(*) FROM "+s.table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func codeOf(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func TestAStepKnowsItsStatementSessionAndOutcome(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	if err := s.insert(7); err != nil {
		t.Fatal(err)
	}
	got := r.last(t, "INSERT INTO")
	want := "INSERT INTO " + s.table + " VALUES ($1)"
	if got.step.Kind != pgwire.Extended || got.step.SQL() != want || got.step.TxStatus != 'I' {
		t.Errorf("step %+v", got.step)
	}
	if got.step.Conn.PID != s.proxd.PgConn().PID() || got.step.Conn.Database != "postgres" || got.step.Conn.ID != 1 {
		t.Errorf("session %+v", got.step.Conn)
	}
	if p := got.step.Executes[0].Params; len(p) != 1 || !p[0].Binary || !slices.Equal(p[0].Value, []byte{0, 0, 0, 7}) {
		t.Errorf("parameters %+v", p)
	}
	if o := got.outcome; o.End != pgwire.Answered || o.Rows != 1 || o.TxStatus != 'I' || !slices.Equal(o.Tags, []string{"INSERT 0 1"}) {
		t.Errorf("outcome %+v", o)
	}
}

func TestTheNameOfAnApplicationFollowsSet(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	if _, err := s.proxd.Exec(s.ctx, "SET application_name = 'request-7'"); err != nil {
		t.Fatal(err)
	}
	if err := s.insert(1); err != nil {
		t.Fatal(err)
	}
	if got := r.last(t, "INSERT").step.Conn.Application; got != "request-7" {
		t.Errorf("application %q", got)
	}
}

func TestTransactionStatusIsSeenBeforeAndAfter(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	tx, err := s.proxd.Begin(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(s.ctx, "SELECT 1/0"); codeOf(err) != "22012" {
		t.Fatal(err)
	}
	got := r.last(t, "1/0")
	if got.step.TxStatus != 'T' || got.outcome.TxStatus != 'E' || got.outcome.Code != "22012" {
		t.Errorf("%+v %+v", got.step, got.outcome)
	}
	if err := tx.Rollback(s.ctx); err != nil {
		t.Error(err)
	}
}

func TestAHeldStepWaitsAndItsReleaseRunsIt(t *testing.T) {
	release, held := make(chan struct{}), make(chan struct{})
	r := &recorder{act: func(ctx context.Context, step *pgwire.Step) pgwire.Action {
		if strings.Contains(step.SQL(), "INSERT") {
			close(held)
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return pgwire.Action{}
	}}
	s := newStage(t, r)
	inserted := make(chan error, 1)
	go func() { inserted <- s.insert(1) }()
	await(s.ctx, t, held)
	if n := s.rows(t); n != 0 {
		t.Errorf("%d rows while the statement is held", n)
	}
	close(release)
	if err := <-inserted; err != nil || s.rows(t) != 1 {
		t.Errorf("after release: %v", err)
	}
}

func TestAHeldStepIsToldWhenItsClientLeaves(t *testing.T) {
	told := make(chan struct{})
	held := make(chan struct{})
	r := &recorder{act: func(ctx context.Context, step *pgwire.Step) pgwire.Action {
		if !strings.Contains(step.SQL(), "INSERT") {
			return pgwire.Action{}
		}
		close(held)
		<-ctx.Done()
		close(told)
		return pgwire.Action{Verb: pgwire.CutBefore}
	}}
	s := newStage(t, r)
	inserted := make(chan error, 1)
	go func() { inserted <- s.insert(1) }()
	await(s.ctx, t, held)
	_ = s.proxd.PgConn().Conn().Close()
	if err := <-inserted; err == nil {
		t.Error("answered although held")
	}
	await(s.ctx, t, told)
	eventually(s.ctx, t, "the step ended", func() bool { return r.count("INSERT") == 1 })
	if got := r.last(t, "INSERT").outcome.End; got != pgwire.Unsent || s.rows(t) != 0 {
		t.Errorf("ended %v", got)
	}
}

func TestAHeldStepIsToldOfACancelRequest(t *testing.T) {
	held := make(chan struct{})
	s := newStage(t, &recorder{act: func(ctx context.Context, step *pgwire.Step) pgwire.Action {
		if !strings.Contains(step.SQL(), "INSERT") {
			return pgwire.Action{}
		}
		close(held)
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), pgwire.ErrCanceled) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		return pgwire.Action{Verb: pgwire.Fail, Code: "57014"}
	}})
	inserted := make(chan error, 1)
	go func() { inserted <- s.insert(1) }()
	await(s.ctx, t, held)
	if err := s.proxd.PgConn().CancelRequest(s.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-inserted; codeOf(err) != "57014" || s.rows(t) != 0 {
		t.Errorf("got %v", err)
	}
	if err := selectOne(s.ctx, s.proxd); err != nil {
		t.Errorf("the session afterwards: %v", err)
	}
}

func TestCutsAroundAnAutocommittedStatement(t *testing.T) {
	for _, c := range []struct {
		name   string
		action pgwire.Action
		end    pgwire.End
		rows   []int // the counts that are legal
	}{
		{"before", pgwire.Action{Verb: pgwire.CutBefore}, pgwire.Unsent, []int{0}},
		{"after", pgwire.Action{Verb: pgwire.CutAfter}, pgwire.Withheld, []int{1}},
		{"in flight", pgwire.Action{Verb: pgwire.CutInFlight}, pgwire.InFlight, []int{0, 1}},
		{"after execute, before sync", pgwire.Action{Verb: pgwire.CutAfter, SplitSync: true}, pgwire.Withheld, []int{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := on("INSERT", c.action)
			s := newStage(t, r)
			if err := s.insert(1); err == nil || codeOf(err) != "" {
				t.Fatalf("a cut came as %v", err)
			}
			eventually(s.ctx, t, "the step ended", func() bool { return r.count("INSERT") == 1 })
			if got := r.last(t, "INSERT").outcome.End; got != c.end {
				t.Errorf("ended %v, want %v", got, c.end)
			}
			s.awaitBackendGone(t)
			if n := s.rows(t); !slices.Contains(c.rows, n) {
				t.Errorf("%d rows, want one of %v", n, c.rows)
			}
		})
	}
}

func (s *stage) awaitBackendGone(t *testing.T) {
	t.Helper()
	pid := s.proxd.PgConn().PID()
	eventually(s.ctx, t, "the backend is gone", func() bool {
		var n int
		err := s.direct.QueryRow(s.ctx, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid).Scan(&n)
		return err == nil && n == 0
	})
}

func TestACommitCutBeforeIsUndoneAndCutAfterIsDone(t *testing.T) {
	for verb, want := range map[pgwire.Verb]int{pgwire.CutBefore: 0, pgwire.CutAfter: 1} {
		t.Run(verb.String(), func(t *testing.T) {
			s := newStage(t, on("commit", pgwire.Action{Verb: verb}))
			tx, err := s.proxd.Begin(s.ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.insert(1); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(s.ctx); err == nil {
				t.Fatal("the commit was acknowledged")
			}
			s.awaitBackendGone(t)
			if n := s.rows(t); n != want {
				t.Errorf("%d rows, want %d", n, want)
			}
		})
	}
}

func TestDelayComesBeforeTheStep(t *testing.T) {
	s := newStage(t, on("INSERT", pgwire.Action{Delay: 60 * time.Millisecond}))
	start := time.Now()
	if err := s.insert(1); err != nil || time.Since(start) < 60*time.Millisecond {
		t.Errorf("took %v, %v", time.Since(start), err)
	}
}

func TestStepsOfAConnectionComeInOrderAndAlternateWithTheirEnds(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	batch := &pgx.Batch{}
	for n := range 50 {
		batch.Queue("INSERT INTO "+s.table+" VALUES ($1)", n)
	}
	if err := s.proxd.SendBatch(s.ctx, batch).Close(); err != nil {
		t.Fatal(err)
	}
	got := r.last(t, "INSERT")
	if len(got.step.Executes) != 50 || got.outcome.Rows != 50 || s.rows(t) != 50 {
		t.Errorf("%d statements, %d rows", len(got.step.Executes), got.outcome.Rows)
	}
	for i, e := range r.ended {
		if e.step.Seq != i+1 || r.decided[i] != e.step {
			t.Fatalf("step %d has number %d", i+1, e.step.Seq)
		}
	}
}

func TestSetControllerNeedsAProxyThatFollows(t *testing.T) {
	if err := listen(t, pgwire.Options{}).SetController(&recorder{}); !errors.Is(err, pgwire.ErrNotFollowing) {
		t.Errorf("got %v", err)
	}
}

func TestALateControllerKnowsWhatWasPreparedBefore(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{Follow: true})
	conn := connect(ctx, t, proxy.Addr())
	if _, err := conn.Prepare(ctx, "early", "SELECT 41 + $1::int"); err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	if err := proxy.SetController(r); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := conn.QueryRow(ctx, "early", 1).Scan(&n); err != nil || n != 42 {
		t.Fatal(n, err)
	}
	if got := r.last(t, "41").step.Executes[0]; got.Name != "early" || got.SQL != "SELECT 41 + $1::int" || got.Params != nil {
		t.Errorf("statement %+v", got)
	}
}

func TestAnOrderlyEndIsNoReset(t *testing.T) {
	for _, opts := range []pgwire.Options{{}, {Follow: true}} {
		ctx, proxy := bounded(t), listen(t, opts)
		if err := connect(ctx, t, proxy.Addr()).Close(ctx); err != nil {
			t.Error(err)
		}
		eventually(ctx, t, "the connection is over", func() bool { return proxy.Stats().Active == 0 })
		if s := proxy.Stats(); s.Reset != 0 {
			t.Errorf("%+v", s)
		}
	}
}
