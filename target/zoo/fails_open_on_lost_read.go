package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var failsOpenOnLostRead = Variant{
	Name:  "fails-open-on-lost-read",
	Class: "fails open",
	Story: "A claim that cannot be made stops the order. The read that follows a lost claim is another matter: it failed, there " +
		"is nothing to replay, so the request is handled as if it were the first.",
	Seen:      "Tr3kkR/Yuzu#1604: a failed read of the store is returned as empty, so that the caller cannot tell the two apart",
	Invariant: "at-most-once",
	Scenario:  "lost-reads",
	Explore:   &Exploration{Faults: []string{"cut-before"}, Replayed: true},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Outage = readProceeds{p.Outage}
		return p
	},
}

// readProceeds refuses as the reference does, but for the loser's read.
type readProceeds struct{ idempotency.OutagePolicy }

// Decide implements idempotency.OutagePolicy.
func (r readProceeds) Decide(req *idempotency.Request, o idempotency.StoreOutage) idempotency.Decision {
	if o.Stage == idempotency.AtRead {
		return idempotency.Proceed
	}
	return r.OutagePolicy.Decide(req, o)
}
