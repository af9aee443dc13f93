package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/plan"
)

var (
	//go:embed session.sql
	sessionSQL string
	//go:embed replay.sql
	replaySQL string
)

// insertKey is where the scripts claim; the session is looked up before.
const insertKey = "INSERT INTO idempotency_keys"

// withSession is a script with the one statement more that the server sends for each request.
func withSession(script string) string {
	return strings.Replace(script, insertKey, sessionSQL+insertKey, 1)
}

// speedSettings keep vacuum and checkpoints between the measurements; durability is as users have it.
var speedSettings = map[string]string{"max_connections": "300", "autovacuum": "off", "checkpoint_timeout": "1h", "min_wal_size": "1GB", "max_wal_size": "4GB"}

// speed measures the server against pgbench.
type speed struct {
	*database
	orderSQL string
	keys     int // of a measurement of the server
}

func runSpeed(ctx context.Context, args []string) (err error) {
	var (
		c      common
		script string
	)
	flags := flag.NewFlagSet("speed", flag.ContinueOnError)
	c.define(flags, 7, 3*time.Second)
	flags.StringVar(&script, "script", "harness/bench/claim/order.sql", "pgbench's script of a fresh order, without the session")
	if err := flags.Parse(args); err != nil {
		return err
	}
	order, err := os.ReadFile(script)
	if err != nil {
		return fmt.Errorf("read pgbench's script: %w", err)
	}
	fmt.Println(machine())
	s, err := openStage(ctx, c, speedSettings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	db, err := s.open(ctx, "bench")
	if err != nil {
		return err
	}
	return (&speed{database: db, orderSQL: string(order), keys: 1000}).run(ctx)
}

func (s *speed) run(ctx context.Context) error {
	if err := s.do(ctx, moreSessions); err != nil {
		return err
	}
	if _, _, err := s.server(ctx); err != nil { // warms up, and says how many keys are enough
		return err
	}
	t := newSpeedTable(s)
	for round := range s.rounds {
		got, err := s.round(ctx)
		if err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		t.add(got)
	}
	t.print()
	return nil
}

// The statements between measurements. pgbench knows its sessions by the user's number.
const (
	moreSessions = `INSERT INTO sessions SELECT sha256(convert_to(n::text, 'UTF8')), n, NOW() + interval '30 days' FROM generate_series(1, 2000) n`
	emptyTables  = `TRUNCATE idempotency_keys, paper_orders, audit_log, positions`
	// settle leaves out tables that are empty: a statement planned for a table that is known to be empty scans it, and goes on doing so.
	settle     = `VACUUM (ANALYZE) accounts, sessions, users`
	checkpoint = `CHECKPOINT`
	// prepareReplays makes the records that replay.sql asks for.
	prepareReplays = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at, status, response_code, response_body)
SELECT md5(n::text)::uuid::text, 1 + n % 2000, 'POST /api/trading/orders', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
       NOW() + interval '24 hours', 'completed', 201,
       '{"order_id": 1, "execution_id": "0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11", "status": "filled", "symbol": "AAPL", "side": "buy", "quantity": 1, "price": "123.45", "cash_balance": "999876.55"}'
FROM generate_series(1, 20000) n`
)

// round is everything once: each measurement from empty tables and a checkpoint just written.
func (s *speed) round(ctx context.Context) (got map[string]reading, err error) {
	got = map[string]reading{}
	for _, p := range []struct{ name, script, prepare, leaves string }{
		{orderFloor, withSession(s.orderSQL), "", oneOrderEach},
		{replayFloor, withSession(replaySQL), prepareReplays, oneReplayEach},
		{orderServer, "", "", ""},
		{orderAgain, withSession(s.orderSQL), "", oneOrderEach},
		{replayAgain, withSession(replaySQL), prepareReplays, oneReplayEach},
		{orderBare, s.orderSQL, "", oneOrderEach},
		{replayBare, replaySQL, prepareReplays, oneReplayEach},
	} {
		if err := s.ready(ctx, p.prepare); err != nil {
			return nil, err
		}
		if p.script == "" {
			if got[orderServer], got[replayServer], err = s.server(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if got[p.name], err = s.pgbench(ctx, p.script, s.length, 0); err != nil {
			return nil, err
		}
		if err := s.left(ctx, p.leaves, got[p.name].all); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return got, nil
}

func (s *speed) ready(ctx context.Context, prepare string) error {
	if err := s.do(ctx, emptyTables); err != nil {
		return err
	}
	if prepare != "" {
		if err := s.do(ctx, prepare, `VACUUM (ANALYZE) idempotency_keys`); err != nil {
			return err
		}
	}
	return s.do(ctx, settle, checkpoint)
}

// What so many transactions leave: the speed of something wrong is no figure.
const (
	oneOrderEach = `
SELECT (SELECT count(*) FROM paper_orders), (SELECT count(*) FROM audit_log),
       (SELECT count(*) FROM idempotency_keys WHERE status = 'completed')`
	oneReplayEach = `
SELECT (SELECT count(*) FROM audit_log WHERE action = 'idempotency_replay'), (SELECT count(*) FROM audit_log),
       (SELECT count(*) FROM audit_log) + (SELECT count(*) FROM paper_orders) + (SELECT count(*) FROM idempotency_keys) - 20000`
)

func (s *speed) left(ctx context.Context, sql string, want int) error {
	var n [3]int
	if err := s.admin.QueryRow(ctx, sql).Scan(&n[0], &n[1], &n[2]); err != nil {
		return fmt.Errorf("count what was done: %w", err)
	}
	if n != [3]int{want, want, want} {
		return fmt.Errorf("%d transactions left %v rows, want as many of each: the script is not what the server does", want, n)
	}
	return nil
}

// server places fresh orders in a closed loop, and then sends each of their keys twice again.
func (s *speed) server(ctx context.Context) (fresh, replay reading, err error) {
	base := plan.Phase{
		Loop: plan.Closed, Clients: s.clients, Duplicates: 1, Mix: map[string]int{"order": 1},
		Deadline: plan.Duration(deadline), Bound: plan.Duration(20*s.length + time.Minute),
	}
	orders, first, second := base, base, base
	orders.Name, orders.Shape, orders.Keys = "orders", "traffic", s.keys
	first.Name, first.Shape, first.Of = "replays", "again", "orders"
	second.Name, second.Shape, second.Of = "more-replays", "again", "orders"
	meters := []*meter{{db: s.database}, {db: s.database}, {db: s.database}}
	answers, err := s.play(ctx, []plan.Phase{orders, first, second},
		[]contract.Answer{contract.AnswerFresh, contract.AnswerReplay, contract.AnswerReplay}, meters)
	if err != nil {
		return fresh, replay, err
	}
	readings := make([]reading, len(answers))
	for i, m := range meters {
		readings[i] = read(answers[i])
		readings[i].spent = m.spent.each(len(answers[i]))
		err = errors.Join(err, m.err)
	}
	s.keys = int(readings[0].rate() * s.length.Seconds())
	replay = readings[1].join(readings[2])
	replay.spent = spent{}.plus(readings[1].spent).plus(readings[2].spent).each(2e6)
	return readings[0], replay, err
}
