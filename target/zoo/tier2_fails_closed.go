package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var tier2FailsClosed = Variant{
	Name:  "tier2-fails-closed",
	Class: "fails closed",
	Story: "Without its store no keyed request is served, on any route: safe is safe. Customers cannot pay and cannot change " +
		"their address, although the provider deduplicates by itself.",
	Seen:      "civitai/civitai#2286: an outage of one Redis took the whole site down, routes that could do without it included",
	Invariant: "fail-open",
	Scenario:  "store-outage",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Outage = alwaysRefuse{}
		return p
	},
}

// alwaysRefuse knows no tiers.
type alwaysRefuse struct{}

// Decide implements idempotency.OutagePolicy.
func (alwaysRefuse) Decide(*idempotency.Request, idempotency.StoreOutage) idempotency.Decision {
	return idempotency.Refuse
}
