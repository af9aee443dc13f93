package claimtest

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// work is what an action does once it has written its effect. A nil one answers at once.
type work struct {
	begun chan struct{} // closed when the effect is written, though not committed
	goOn  chan struct{} // it waits for that
	end   func() (idempotency.Response, error)
}

// slow is work that stops in the middle until it is told to go on.
func slow() *work { return &work{begun: make(chan struct{}), goOn: make(chan struct{})} }

type workKey struct{}

func withWork(ctx context.Context, w *work) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

const effectSQL = `INSERT INTO claimtest_effects (idem_key, user_id, endpoint, execution) VALUES ($1, $2, $3, $4)`

// act is every route's action: one row, and an answer that holds what a careless store would change.
func act(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
	if _, err := tx.Exec(ctx, effectSQL, req.Key, req.Identity.UserID, req.Route.Endpoint, req.ExecutionID); err != nil {
		return idempotency.Response{}, err
	}
	w, _ := ctx.Value(workKey{}).(*work)
	if w != nil && w.begun != nil {
		close(w.begun)
		select {
		case <-w.goOn:
		case <-ctx.Done():
			return idempotency.Response{}, ctx.Err()
		}
	}
	if w != nil && w.end != nil {
		return w.end()
	}
	resp, err := idempotency.JSON(http.StatusCreated, map[string]any{
		"execution": req.ExecutionID, "large": int64(9007199254740993), "text": "ünï \"quoted\" <&>", "nothing": nil,
		"nested": map[string]any{"list": []any{1, "1", true, map[string]any{}}, "cents": 0.1},
	})
	resp.Audit = &idempotency.AuditEntry{Action: "claimtest"}
	return resp, err
}

// flight is a call under way.
type flight struct {
	*work
	answer chan answer
	goesOn func() // once is enough
}

// send sends a call in the background, with slow work of its own.
func (p *replica) send(c call) flight {
	f := flight{work: slow(), answer: make(chan answer, 1)}
	f.goesOn = sync.OnceFunc(func() { close(f.goOn) })
	p.Cleanup(f.goesOn) // of a test that has failed meanwhile
	c.work = f.work
	go func() { f.answer <- p.do(c) }()
	return f
}

// begin sends a call and returns once its action is at work.
func (p *replica) begin(c call) flight {
	p.Helper()
	f := p.send(c)
	select {
	case <-f.begun:
	case a := <-f.answer:
		p.Fatalf("answered %v, want an execution", a)
	case <-time.After(patience):
		p.Fatal("the action did not begin")
	}
	return f
}

// finish lets the action go on and returns the answer.
func (r *rig) finish(f flight) answer {
	r.Helper()
	f.goesOn()
	return r.await(f.answer)
}

func (r *rig) await(from <-chan answer) (a answer) {
	r.Helper()
	select {
	case a = <-from:
	case <-time.After(patience):
		r.Fatal("a request was not answered")
	}
	return a
}

const terminateSQL = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1`

// crash ends the replica's sessions, as the end of its process would, while its requests still believe in them.
func (p *replica) crash() {
	p.Helper()
	p.count(terminateSQL, p.name)
	p.eventually("the end of the sessions", func() bool {
		return p.count(`SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`, p.name) == 0
	})
}

const waitingSQL = `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`

// waits returns once some of the replica's sessions wait for a lock.
func (p *replica) waits(n int) {
	p.Helper()
	p.eventually("the wait for the winner", func() bool { return p.count(waitingSQL, p.name) == n })
}

const held = `
SELECT count(*) FROM pg_stat_activity a WHERE application_name = $1 AND (
    state LIKE 'idle in transaction%' OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND locktype = 'advisory'))`

// wantNothingHeld asks that no connection, transaction, advisory lock or lock in Redis of the key is left.
func (p *replica) wantNothingHeld(key string) {
	p.Helper()
	p.eventually("the connections' return", func() bool { return p.store.Stat().AcquiredConns() == 0 })
	p.eventually("the end of transactions and locks", func() bool { return p.count(held, p.name) == 0 })
	if p.redis != nil {
		left, err := p.redis.Keys(p.Context(), "*"+key+"*").Result()
		must(p.rig, err)
		if len(left) > 0 {
			p.Fatalf("Redis still has %q", left)
		}
	}
}

// asRequest is a call as the parts of the middleware see it, for what they are asked directly.
func (p *replica) asRequest(c call) *idempotency.Request {
	route := endpoints[closed]
	route.Endpoint = closed
	route.TTL = idempotency.MaxTTL
	return &idempotency.Request{
		Route: &route, Key: c.key, Hash: "hash of " + c.body, Scope: idempotency.Scope{UserID: &p.users[0], Endpoint: closed},
	}
}
