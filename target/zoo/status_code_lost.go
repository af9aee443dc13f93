package zoo

import (
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var statusCodeLost = Variant{
	Name:  "status-code-lost",
	Class: "replay differs from the answer",
	Story: "The body is stored and given again, and the code is what a handler answers that sets none: a replayed 201 is a 200, and " +
		"a client that acts by the code does something else the second time.",
	Seen:      "fullstackhero/docs#240: a 201 was replayed as a 200",
	Invariant: "replay-fidelity",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Replayer = bodyReplayer{p.Replayer}
		return p
	},
}

// bodyReplayer replays the body alone.
type bodyReplayer struct{ idempotency.Replayer }

// Replay implements idempotency.Replayer.
func (r bodyReplayer) Replay(req *idempotency.Request, rec *idempotency.Record) idempotency.Response {
	resp := r.Replayer.Replay(req, rec)
	resp.Status = http.StatusOK
	return resp
}
