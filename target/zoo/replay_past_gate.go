package zoo

import (
	"context"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var replayPastGate = Variant{
	Name:  "replay-past-gate",
	Class: "replay past the gate",
	Story: "The gate stops new orders, and a replay is none: requests whose key is known are let through. While everyone is told " +
		"that trading has stopped, some are told that their order was placed.",
	Seen: "margince/margince#5315: a replay returns the stored answer without asking again whether its caller may have " +
		"it",
	Invariant: "gates-respected",
	Scenario:  "gate",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Gate = replayGate{Gate: p.Gate, matcher: p.Matcher, scoper: p.Scoper, store: reference(p).Store}
		return p
	},
}

// replayGate is open to known keys.
type replayGate struct {
	idempotency.Gate
	matcher idempotency.Matcher
	scoper  idempotency.Scoper
	store   idempotency.DB
}

// Closed implements idempotency.Gate.
func (g replayGate) Closed(req *idempotency.Request) *idempotency.Response {
	closed := g.Gate.Closed(req)
	if closed == nil || g.known(req) {
		return nil
	}
	return closed
}

// gateTime bounds the look behind the gate.
const gateTime = 500 * time.Millisecond

func (g replayGate) known(req *idempotency.Request) bool {
	key, err := g.matcher.Key(req.HTTP.Header)
	if key == "" || err != nil {
		return false
	}
	keyed := *req
	keyed.Key, keyed.Scope = key, g.scoper.Scope(req)
	ctx, cancel := context.WithTimeout(req.HTTP.Context(), gateTime)
	defer cancel()
	found, err := look(ctx, g.store, &keyed)
	return found && err == nil
}
