package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var noBodyHash = Variant{
	Name:  "no-body-hash",
	Class: "no request hash",
	Story: "The key alone decides: whoever sends it again gets the stored answer. A client that reuses a key for another " +
		"order is told that the other order was placed.",
	Seen:      "josipmusa/idempotency4j#12: a key reused with another body got the stored response",
	Invariant: "mismatch-rejected",
	Scenario:  "body-mismatch",
	Explore:   &Exploration{Case: "mismatch"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Matcher = keyOnlyMatcher{p.Matcher}
		return p
	},
}

// keyOnlyMatcher takes every request under one key for the same.
type keyOnlyMatcher struct{ idempotency.Matcher }

// Hash implements idempotency.Matcher.
func (keyOnlyMatcher) Hash(req *idempotency.Request) string { return req.Route.Endpoint }
