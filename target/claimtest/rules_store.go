package claimtest

import (
	"context"
	"errors"
	"net"
	"net/url"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Rules about a store that is out.

// outages are ways to be out, each by how it changes a replica.
func (r *rig) outages() map[string]options {
	refusing, hanging := r.refusing(), r.hanging()
	all := map[string]options{
		"refuses":   {storeDSN: at(r, refusing)},
		"hangs":     {storeDSN: at(r, hanging)},
		"read only": {readOnly: true},
	}
	if r.strategy.Redis {
		delete(all, "read only") // its claims are none of the database's
		all["refusing Redis"] = options{redis: refusing}
		all["hanging Redis"] = options{redis: hanging}
	}
	return all
}

func storeOutages(r *rig) {
	for name, o := range r.outages() {
		o.deadline = 2 * soon
		p := r.replica(o)
		r.isOutage(name, p)
	}
	p := r.replica(options{deadline: 2 * soon, conns: 1})
	taken, err := p.store.Acquire(r.Context())
	must(r, err)
	r.isOutage("no free connection", p)
	taken.Release()
	r.eventually("an execution by the connection that is free again", func() bool { return p.do(fresh()).isFresh() })
}

// isOutage asks for an error of the claim that is nobody's fault but the store's, within the request's time, and for what the tiers make of it.
func (r *rig) isOutage(name string, p *replica) {
	r.Helper()
	c := fresh()
	r.claimFails(name, p, c)
	refused := p.do(c)
	r.want(name+": a refusal on tier 1", refused, func(a answer) bool {
		return a.status == 503 && a.text("error") == "idempotency_store_unavailable"
	})
	r.wantEffects(c.key, 0)
	c.endpoint = open
	r.want(name+": an execution on tier 2", p.do(c), answer.isFresh)
	r.wantEffects(c.key, 1)
}

func (r *rig) claimFails(name string, p *replica, c call) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), soon)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		claim, err := p.claimer.Claim(ctx, p.asRequest(c))
		if claim != nil {
			err = nil
		}
		failed <- err
	}()
	select {
	case err := <-failed:
		if err == nil || errors.Is(err, idempotency.ErrHeld) || errors.Is(err, idempotency.ErrScopeGone) {
			r.Fatalf("%s: the claim's error is %v, which is no outage", name, err)
		}
	case <-time.After(patience):
		r.Fatalf("%s: the claim does not end with its request", name)
	}
}

// storeComesBack loses every connection between two requests.
func storeComesBack(r *rig) {
	p, before := r.replica(options{}), fresh()
	original := p.do(before)
	p.crash()
	r.wantReplayOf(original, p.settle(before))
	r.eventually("an execution, once the dead connections are known", func() bool {
		after := fresh()
		a := p.do(after)
		if a.isFresh() {
			r.wantEffects(after.key, 1)
		}
		return a.isFresh()
	})
	r.wantEffects(before.key, 1)
}

// refusing is an address where nobody listens.
func (r *rig) refusing() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(r, err)
	defer ln.Close()
	return ln.Addr().String()
}

// hanging is an address where connections are taken and never served.
func (r *rig) hanging() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(r, err)
	r.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

// at is the rig's database at another address.
func at(r *rig, addr string) string {
	r.Helper()
	dsn, err := url.Parse(r.on.DSN)
	must(r, err)
	dsn.Host = addr
	return dsn.String()
}
