package pgwire_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// wire is a client that says each message itself.
type wire struct {
	t  *testing.T
	fe *pgproto3.Frontend
}

// wire takes over the stage's proxied connection.
func (s *stage) wire(t *testing.T) *wire {
	t.Helper()
	hijacked, err := s.proxd.PgConn().Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hijacked.Conn.Close() })
	if deadline, ok := s.ctx.Deadline(); ok {
		if err := hijacked.Conn.SetDeadline(deadline); err != nil {
			t.Fatal(err)
		}
	}
	return &wire{t: t, fe: hijacked.Frontend}
}

func (w *wire) send(messages ...pgproto3.FrontendMessage) {
	w.t.Helper()
	for _, m := range messages {
		w.fe.Send(m)
	}
	if err := w.fe.Flush(); err != nil {
		w.t.Fatal(err)
	}
}

// expect reads as many messages as types has letters, and returns the last.
func (w *wire) expect(types string) pgproto3.BackendMessage {
	w.t.Helper()
	var m pgproto3.BackendMessage
	for i := range len(types) {
		var err error
		if m, err = w.fe.Receive(); err != nil {
			w.t.Fatalf("expected %q of %q: %v", types[i], types, err)
		}
		raw, err := m.Encode(nil)
		if err != nil {
			w.t.Fatal(err)
		}
		if raw[0] != types[i] {
			w.t.Fatalf("expected %q of %q, got %#v", types[i], types, m)
		}
	}
	return m
}

func (s *stage) run(sql string) []pgproto3.FrontendMessage {
	return []pgproto3.FrontendMessage{
		&pgproto3.Parse{Query: strings.ReplaceAll(sql, "TABLE", s.table)}, &pgproto3.Bind{}, &pgproto3.Execute{},
	}
}

func TestPipelinedStepsAreDecidedOneByOne(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	w := s.wire(t)
	var all []pgproto3.FrontendMessage
	for range 40 {
		all = append(append(all, s.run("INSERT INTO TABLE VALUES (1)")...), &pgproto3.Sync{})
	}
	w.send(all...)
	w.expect(strings.Repeat("12CZ", 40))
	if r.count("INSERT") != 40 || s.rows(t) != 40 {
		t.Errorf("%d steps, %d rows", r.count("INSERT"), s.rows(t))
	}
}

func TestAnErrorInMidBatchSkipsTheRestAndKeepsTheNamesRight(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	w := s.wire(t)
	w.send(&pgproto3.Parse{Name: "a", Query: "SELECT 'old'"}, &pgproto3.Sync{})
	w.expect("1Z")
	batch := append(s.run("SELECT 1/0"), &pgproto3.Close{ObjectType: 'S', Name: "a"},
		&pgproto3.Parse{Name: "b", Query: "SELECT 'never'"}, &pgproto3.Sync{})
	w.send(batch...) // the planner divides, at Bind
	w.expect("1EZ")
	w.send(&pgproto3.Bind{PreparedStatement: "a"}, &pgproto3.Execute{}, &pgproto3.Sync{})
	w.expect("2DCZ")
	if got := r.last(t, "old").step.Executes[0].Name; got != "a" {
		t.Errorf("ran %q", got)
	}
}

func TestAClientsOwnFlushIsAStepAndItsSyncAnother(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	w := s.wire(t)
	w.send(append(s.run("INSERT INTO TABLE VALUES (1)"), &pgproto3.Flush{})...)
	w.expect("12C")
	if got := r.last(t, "INSERT"); got.step.Kind != pgwire.Flushed || got.outcome.TxStatus != 0 || s.rows(t) != 0 {
		t.Errorf("%+v %+v, %d rows", got.step, got.outcome, s.rows(t))
	}
	w.send(&pgproto3.Flush{}, &pgproto3.Sync{})
	w.expect("Z")
	if s.rows(t) != 1 {
		t.Error("the Sync did not commit")
	}
	w.send(append(s.run("SELECT 1/0"), &pgproto3.Flush{})...)
	w.expect("1E")
	w.send(append(s.run("INSERT INTO TABLE VALUES (2)"), &pgproto3.Flush{})...)
	w.send(&pgproto3.Sync{})
	w.expect("Z")
	if s.rows(t) != 1 {
		t.Error("a statement behind an error ran")
	}
}

func TestASplitSyncOpensTheRaceInsideOneStatement(t *testing.T) {
	split := func(_ context.Context, step *pgwire.Step) pgwire.Action {
		return pgwire.Action{SplitSync: strings.Contains(step.SQL(), "NOT EXISTS")}
	}
	first, release := make(chan struct{}), make(chan struct{})
	r := &recorder{act: func(ctx context.Context, step *pgwire.Step) pgwire.Action {
		if step.Of != nil && step.Conn.ID == 1 {
			close(first)
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return split(ctx, step)
	}}
	s := newStage(t, r)
	insert := "INSERT INTO " + s.table + " SELECT $1 WHERE NOT EXISTS (SELECT FROM " + s.table + ")"
	held := make(chan error, 1)
	go func() {
		_, err := s.proxd.Exec(s.ctx, insert, 1)
		held <- err
	}()
	await(s.ctx, t, first)
	tag, err := connect(s.ctx, t, s.proxy.Addr()).Exec(s.ctx, insert, 1)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%v, %v", tag, err)
	}
	close(release)
	if err := <-held; err != nil || s.rows(t) != 2 {
		t.Errorf("%v, %d rows: the race is not open", err, s.rows(t))
	}
}

func TestASplitDoesNotChangeWhatTheClientGets(t *testing.T) {
	always := &recorder{act: func(context.Context, *pgwire.Step) pgwire.Action {
		return pgwire.Action{SplitSync: true}
	}}
	s := newStage(t, always)
	if err := s.insert(5); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := s.proxd.QueryRow(s.ctx, "SELECT n FROM "+s.table).Scan(&n); err != nil || n != 5 {
		t.Error(n, err)
	}
	if _, err := s.proxd.Exec(s.ctx, "SELECT 1/$1::int", 0); codeOf(err) != "22012" {
		t.Error(err)
	}
	copied, err := s.proxd.PgConn().CopyFrom(s.ctx, strings.NewReader("1\n2\n"), "COPY "+s.table+" FROM STDIN")
	if err != nil || copied.RowsAffected() != 2 {
		t.Error(copied, err)
	}
}

func TestCopyPassesBothWays(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	var in bytes.Buffer
	for n := range 100_000 {
		fmt.Fprintln(&in, n)
	}
	want := in.String()
	conn := s.proxd.PgConn()
	tag, err := conn.CopyFrom(s.ctx, &in, "COPY "+s.table+" FROM STDIN")
	if err != nil || tag.RowsAffected() != 100_000 {
		t.Fatal(tag, err)
	}
	var out strings.Builder
	if _, err := conn.CopyTo(s.ctx, &out, "COPY "+s.table+" TO STDOUT"); err != nil || out.String() != want {
		t.Errorf("%d bytes back of %d, %v", out.Len(), len(want), err)
	}
	if got := r.last(t, "FROM STDIN").outcome; got.Rows != 100_000 {
		t.Errorf("outcome %+v", got)
	}
	if _, err := conn.CopyFrom(s.ctx, strings.NewReader("x\n"), "COPY "+s.table+" FROM STDIN"); codeOf(err) != "22P02" {
		t.Errorf("bad data: %v", err)
	}
	if err := selectOne(s.ctx, s.proxd); err != nil {
		t.Error(err)
	}
}

// In the extended protocol the database ignores the Sync before the data: the one
// after it counts.
func TestCopyInTheExtendedProtocol(t *testing.T) {
	for _, split := range []bool{false, true} {
		s := newStage(t, &recorder{act: func(context.Context, *pgwire.Step) pgwire.Action {
			return pgwire.Action{SplitSync: split}
		}})
		w := s.wire(t)
		for range 2 {
			w.send(append(s.run("COPY TABLE FROM STDIN"), &pgproto3.Sync{})...)
			w.expect("12G")
			w.send(&pgproto3.CopyData{Data: []byte("1\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{})
			w.expect("CZ")
		}
		w.send(append(s.run("COPY TABLE FROM STDIN"), &pgproto3.Sync{})...)
		w.expect("12G")
		w.send(&pgproto3.CopyFail{Message: "enough"}, &pgproto3.Sync{})
		w.expect("EZ")
		w.send(append(s.run("SELECT 1"), &pgproto3.Sync{})...)
		w.expect("12DCZ")
		if s.rows(t) != 2 {
			t.Errorf("split %v: %d rows", split, s.rows(t))
		}
	}
}

func TestACopyThatWouldNeedDataIsCutInFlight(t *testing.T) {
	r := on("STDIN", pgwire.Action{Verb: pgwire.CutAfter})
	s := newStage(t, r)
	_, err := s.proxd.PgConn().CopyFrom(s.ctx, strings.NewReader("1\n"), "COPY "+s.table+" FROM STDIN")
	if err == nil {
		t.Fatal("answered")
	}
	if got := r.last(t, "STDIN").outcome.End; got != pgwire.InFlight {
		t.Errorf("ended %v", got)
	}
}

func TestAFunctionCallIsAStep(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	w := s.wire(t)
	const abs = 1397 // the oid of abs(int4)
	w.send(&pgproto3.FunctionCall{
		Function: abs, ArgFormatCodes: []uint16{0}, Arguments: [][]byte{[]byte("-5")}, ResultFormatCode: 0,
	})
	w.expect("VZ")
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.ended[len(r.ended)-1]
	if last.step.Kind != pgwire.Call || last.outcome.End != pgwire.Answered {
		t.Errorf("%+v", last)
	}
}

func TestASuspendedPortalGoesOn(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	w := s.wire(t)
	w.send(&pgproto3.Query{String: "BEGIN"})
	w.expect("CZ")
	w.send(&pgproto3.Parse{Query: "SELECT generate_series(1,3)"}, &pgproto3.Bind{DestinationPortal: "p"},
		&pgproto3.Describe{ObjectType: 'P', Name: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Sync{})
	w.expect("12TDDsZ")
	w.send(&pgproto3.Execute{Portal: "p"}, &pgproto3.Flush{})
	w.expect("DC")
	if got := r.last(t, "generate_series").step; got.Kind != pgwire.Flushed || got.Executes[0].Portal != "p" {
		t.Errorf("%+v", got)
	}
}

func TestLargeRowsStreamThrough(t *testing.T) {
	for _, control := range []pgwire.Controller{nil, &recorder{}} {
		s := newStage(t, control)
		var text string
		if err := s.proxd.QueryRow(s.ctx, "SELECT repeat('x', 8000000)").Scan(&text); err != nil || len(text) != 8_000_000 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
		var n int
		if err := s.proxd.QueryRow(s.ctx, "SELECT length($1::text)", text).Scan(&n); err != nil || n != len(text) {
			t.Errorf("%d bytes up, %v", n, err)
		}
	}
}

func TestACancelRequestReachesItsBackend(t *testing.T) {
	s := newStage(t, &recorder{})
	done := make(chan error, 1)
	go func() {
		_, err := s.proxd.Exec(s.ctx, "SELECT pg_sleep(20)")
		done <- err
	}()
	eventually(s.ctx, t, "it sleeps", func() bool {
		var n int
		err := s.direct.QueryRow(s.ctx, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid = $1",
			s.proxd.PgConn().PID()).Scan(&n)
		return err == nil && n == 1
	})
	if err := s.proxd.PgConn().CancelRequest(s.ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; codeOf(err) != "57014" || s.proxy.Stats().Cancels != 1 {
		t.Errorf("%v, %+v", err, s.proxy.Stats())
	}
}

func TestNotificationsArriveWhileAStepIsHeldAndAnErrorIsInjected(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	s := newStage(t, &recorder{act: func(_ context.Context, step *pgwire.Step) pgwire.Action {
		if step.SQL() != "SELECT 'held'" {
			return pgwire.Action{}
		}
		close(held)
		<-release
		return pgwire.Action{Verb: pgwire.Fail, Code: "40P01"}
	}})
	if _, err := s.proxd.Exec(s.ctx, "LISTEN news"); err != nil {
		t.Fatal(err)
	}
	w := s.wire(t)
	w.send(&pgproto3.Query{String: "SELECT 'held'"})
	await(s.ctx, t, held)
	if _, err := s.direct.Exec(s.ctx, "NOTIFY news, 'now'"); err != nil {
		t.Fatal(err)
	}
	w.expect("A")
	close(release)
	w.expect("EZ")
}

func TestAskingForEncryptionIsRefusedPolitely(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{Controller: &recorder{}})
	cfg := config(t, proxy.Addr())
	dsn := fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=postgres sslmode=prefer", cfg.Host, cfg.Port, cfg.User, cfg.Password)
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestAStepIsLostWhenTheDatabaseEndsTheSession(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	if _, err := s.proxd.Exec(s.ctx, "SELECT pg_terminate_backend(pg_backend_pid())"); codeOf(err) != "57P01" {
		t.Fatal(err)
	}
	eventually(s.ctx, t, "the step ended", func() bool { return r.count("terminate") >= 1 && s.proxy.Stats().Active == 0 })
	if got := r.last(t, "terminate").outcome; got.End != pgwire.Lost || got.Code != "57P01" {
		t.Errorf("outcome %+v", got)
	}
}

func TestEveryDecidedStepEndsOnceWhateverHappens(t *testing.T) {
	r := &recorder{}
	s := newStage(t, r)
	var clients sync.WaitGroup
	defer clients.Wait()
	for range 30 {
		conn := connect(s.ctx, t, s.proxy.Addr())
		clients.Go(func() { _, _ = conn.Exec(s.ctx, "INSERT INTO "+s.table+" VALUES (1)") })
	}
	s.proxy.Reset()
	if err := s.proxy.Close(); err != nil {
		t.Fatal(err)
	}
	ends := map[*pgwire.Step]int{}
	for _, e := range r.ended {
		ends[e.step]++
	}
	for _, step := range r.decided {
		if ends[step] != 1 {
			t.Errorf("%v %q ended %d times", step.Kind, step.SQL(), ends[step])
		}
	}
	if slices.Contains(r.decided, nil) {
		t.Error("a nil step")
	}
}
