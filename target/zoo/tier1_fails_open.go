package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var tier1FailsOpen = Variant{
	Name:  "tier1-fails-open",
	Class: "fails open",
	Story: "The key store is down, and orders must go on: the error is logged and the order placed. Clients that saw a " +
		"time-out retry, and are served again.",
	Seen:      "Dev1822/paySphere#1919: the middleware logs that its store is down and lets payroll requests through",
	Invariant: "fail-closed",
	Scenario:  "store-outage",
	Explore:   &Exploration{Faults: []string{"cut-before"}, Invariant: "nothing-unclaimed"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Outage = alwaysProceed{}
		return p
	},
}

// alwaysProceed executes without deduplication on every tier.
type alwaysProceed struct{}

// Decide implements idempotency.OutagePolicy.
func (alwaysProceed) Decide(*idempotency.Request, idempotency.StoreOutage) idempotency.Decision {
	return idempotency.Proceed
}
