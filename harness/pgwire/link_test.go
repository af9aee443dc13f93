package pgwire_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

func selectOne(ctx context.Context, conn *pgx.Conn) error {
	var one int
	return conn.QueryRow(ctx, "SELECT 1").Scan(&one)
}

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

func TestACleanPathPassesQueries(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	conn := connect(ctx, t, proxy.Addr())
	if err := selectOne(ctx, conn); err != nil {
		t.Fatal(err)
	}
	s := proxy.Stats()
	if s.Accepted != 1 || s.Active != 1 || s.Statements != 1 || s.BytesUp == 0 || s.BytesDown == 0 {
		t.Errorf("stats after one query: %+v", s)
	}
}

func TestRefuseResetsOpenAndNewConnectionsUntilHealed(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	conn := connect(ctx, t, proxy.Addr())
	proxy.SetLink(pgwire.Link{State: pgwire.Refuse})
	if err := selectOne(ctx, conn); err == nil {
		t.Error("an open connection survived Refuse")
	}
	if _, err := pgx.ConnectConfig(ctx, config(t, proxy.Addr())); !isReset(err) {
		t.Errorf("a new connection under Refuse: %v, want a reset", err)
	}
	if s := proxy.Stats(); s.Reset != 1 || s.Refused == 0 {
		t.Errorf("stats do not prove the fault: %+v", s)
	}
	proxy.SetLink(pgwire.Link{})
	if err := selectOne(ctx, connect(ctx, t, proxy.Addr())); err != nil {
		t.Errorf("after heal: %v", err)
	}
}

func TestHangHoldsBytesAndHealLetsThemFlow(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	conn := connect(ctx, t, proxy.Addr())
	proxy.SetLink(pgwire.Link{State: pgwire.Hang})
	answered := make(chan error, 1)
	go func() { answered <- selectOne(ctx, conn) }()
	eventually(ctx, t, "the query is held", func() bool { return proxy.Stats().Shaped > 0 })
	select {
	case err := <-answered:
		t.Fatalf("answered during a hang: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	proxy.SetLink(pgwire.Link{})
	if err := <-answered; err != nil {
		t.Errorf("held bytes were lost: %v", err)
	}
}

func TestANewConnectionUnderHangIsSilentAndGoesOnAfterHeal(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	proxy.SetLink(pgwire.Link{State: pgwire.Hang})
	opened := make(chan error, 1)
	go func() {
		conn, err := pgx.ConnectConfig(ctx, config(t, proxy.Addr()))
		if err == nil {
			err = conn.Close(ctx)
		}
		opened <- err
	}()
	eventually(ctx, t, "the connection is taken in", func() bool { return proxy.Stats().Active == 1 })
	select {
	case err := <-opened:
		t.Fatalf("connected during a hang: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	proxy.SetLink(pgwire.Link{})
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestAbandonedConnectionsDoNotPileUpUnderHang(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	proxy.SetLink(pgwire.Link{State: pgwire.Hang})
	for range 20 {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		if _, err := pgx.ConnectConfig(short, config(t, proxy.Addr())); err == nil {
			t.Error("connected during a hang")
		}
		cancel()
	}
	eventually(ctx, t, "abandoned connections are gone", func() bool { return proxy.Stats().Active == 0 })
}

func TestRefuseReachesWhatHangs(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	conn := connect(ctx, t, proxy.Addr())
	proxy.SetLink(pgwire.Link{State: pgwire.Hang})
	answered := make(chan error, 1)
	go func() { answered <- selectOne(ctx, conn) }()
	eventually(ctx, t, "the query is held", func() bool { return proxy.Stats().Shaped > 0 })
	proxy.SetLink(pgwire.Link{State: pgwire.Refuse})
	if err := <-answered; err == nil {
		t.Error("answered although held and then reset")
	}
	eventually(ctx, t, "nothing is left open", func() bool { return proxy.Stats().Active == 0 })
}

// The client is not pgx, which follows a reset with a CancelRequest of its own.
func TestResetBusyBreaksAfterTheStatementWentOut(t *testing.T) {
	s := newStage(t, nil)
	w := s.wire(t)
	s.proxy.SetLink(pgwire.Link{State: pgwire.ResetBusy})
	w.send(&pgproto3.Query{String: "INSERT INTO " + s.table + " VALUES (1)"})
	if m, err := w.fe.Receive(); err == nil {
		t.Errorf("answered under ResetBusy: %#v", m)
	}
	eventually(s.ctx, t, "the statement took effect", func() bool { return s.rows(t) == 1 })
}

func TestAHalfOpenPathRunsStatementsWhoseAnswersStayBehind(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	direct := connect(ctx, t, cluster.Addr())
	if _, err := direct.Exec(ctx, "DROP TABLE IF EXISTS half; CREATE TABLE half(n int)"); err != nil {
		t.Fatal(err)
	}
	conn := connect(ctx, t, proxy.Addr())
	proxy.SetLink(pgwire.Link{Down: pgwire.Lane{Hold: true}})
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, "INSERT INTO half VALUES (1)", pgx.QueryExecModeSimpleProtocol)
		answered <- err
	}()
	eventually(ctx, t, "the statement took effect", func() bool {
		var n int
		return direct.QueryRow(ctx, "SELECT count(*) FROM half").Scan(&n) == nil && n == 1
	})
	select {
	case err := <-answered:
		t.Fatalf("the answer came through: %v", err)
	default:
	}
	proxy.SetLink(pgwire.Link{})
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestDelayIsAddedOnceForABigAnswer(t *testing.T) {
	const delay = 100 * time.Millisecond
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	conn := connect(ctx, t, proxy.Addr())
	proxy.SetLink(pgwire.Link{Down: pgwire.Lane{Delay: delay}})
	start := time.Now()
	var text string // far more than one chunk: were they delayed one after another, this would take seconds
	err := conn.QueryRow(ctx, "SELECT repeat('x', 1000000)", pgx.QueryExecModeSimpleProtocol).Scan(&text)
	took := time.Since(start)
	if err != nil || len(text) != 1000000 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if took < delay || took > 10*delay {
		t.Errorf("took %v with a delay of %v", took, delay)
	}
}

func TestBandwidthTrickles(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	conn := connect(ctx, t, proxy.Addr())
	proxy.SetLink(pgwire.Link{Down: pgwire.Lane{Bandwidth: 100_000}})
	start := time.Now()
	var text string
	err := conn.QueryRow(ctx, "SELECT repeat('x', 20000)", pgx.QueryExecModeSimpleProtocol).Scan(&text)
	if took := time.Since(start); err != nil || took < 150*time.Millisecond {
		t.Errorf("20 kB at 100 kB/s took %v, %v", took, err)
	}
}

func TestFlappingFailsAndComesBack(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	flap := pgwire.Flap{Bad: 5 * time.Millisecond, Good: 20 * time.Millisecond}
	proxy.SetLink(pgwire.Link{State: pgwire.Refuse, Flap: flap})
	failed, worked := false, false
	eventually(ctx, t, "the link was seen bad and good", func() bool {
		conn, err := pgx.ConnectConfig(ctx, config(t, proxy.Addr()))
		if err == nil {
			worked = true
			_ = conn.Close(ctx)
		}
		failed = failed || err != nil
		return failed && worked
	})
	proxy.SetLink(pgwire.Link{})
	if err := selectOne(ctx, connect(ctx, t, proxy.Addr())); err != nil {
		t.Errorf("after the flapping: %v", err)
	}
}

func TestSetUpstreamMovesNewConnections(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{Upstream: "127.0.0.1:1"})
	if _, err := pgx.ConnectConfig(ctx, config(t, proxy.Addr())); err == nil {
		t.Fatal("connected to nothing")
	}
	if proxy.Stats().Unreachable == 0 {
		t.Error("the unreachable database was not counted")
	}
	proxy.SetUpstream(cluster.Addr())
	if err := selectOne(ctx, connect(ctx, t, proxy.Addr())); err != nil {
		t.Error(err)
	}
}

func TestResetBreaksEveryOpenConnectionOnce(t *testing.T) {
	ctx, proxy := bounded(t), listen(t, pgwire.Options{})
	conn := connect(ctx, t, proxy.Addr())
	if n := proxy.Reset(); n != 1 {
		t.Errorf("reset %d connections, want 1", n)
	}
	if err := selectOne(ctx, conn); err == nil {
		t.Error("the connection survived")
	}
	if err := selectOne(ctx, connect(ctx, t, proxy.Addr())); err != nil {
		t.Error(err)
	}
}

func TestValidateRefusesImpossibleLinks(t *testing.T) {
	for name, link := range map[string]pgwire.Link{
		"unknown state":   {State: 9},
		"negative delay":  {Up: pgwire.Lane{Delay: -1}},
		"negative jitter": {Down: pgwire.Lane{Jitter: -1}},
		"no speed":        {Down: pgwire.Lane{Bandwidth: -1}},
		"half a flap":     {Flap: pgwire.Flap{Bad: time.Second}},
	} {
		if link.Validate() == nil {
			t.Errorf("%s: accepted %+v", name, link)
		}
	}
	if err := (pgwire.Link{}).Validate(); err != nil {
		t.Error(err)
	}
}
