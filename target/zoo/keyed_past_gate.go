package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var keyedPastGate = Variant{
	Name:  "keyed-past-gate",
	Class: "claim past the gate",
	Story: "The gate must not cut off retries of what was begun before, so it lets through whatever has a key. By now every client " +
		"sends one.",
	Seen: "Supercompress/Supercompress#47: whoever sends a key that is known passes quota and billing, whatever the request asks " +
		"for",
	Invariant: "gates-respected",
	Scenario:  "gate",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Gate = keyedGate{p.Gate}
		return p
	},
}

// keyedGate takes every key for a retry.
type keyedGate struct{ idempotency.Gate }

// Closed implements idempotency.Gate.
func (g keyedGate) Closed(req *idempotency.Request) *idempotency.Response {
	if req.HTTP.Header.Get(idempotency.KeyHeader) != "" {
		return nil
	}
	return g.Gate.Closed(req)
}
