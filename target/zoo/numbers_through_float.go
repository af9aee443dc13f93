package zoo

import (
	"encoding/json"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var numbersThroughFloat = Variant{
	Name:  "numbers-through-float",
	Class: "hash too coarse",
	Story: "The body is decoded and encoded again, which sorts the keys and drops the white space. It also sends every number " +
		"through floating point: beyond 2^53 a different one has the same hash, and gets the stored answer.",
	Seen: "margince/margince#1075: two bodies that differ only past 2^53 have one hash, since numbers are decoded as " +
		"floating point",
	Invariant: "mismatch-rejected",
	Scenario:  "spelling",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Matcher = decodingMatcher{p.Matcher}
		return p
	},
}

// decodingMatcher hashes what is left of a body after decoding.
type decodingMatcher struct{ idempotency.Matcher }

// Hash implements idempotency.Matcher.
func (m decodingMatcher) Hash(req *idempotency.Request) string {
	var value any
	if json.Unmarshal(req.Body, &value) != nil {
		return m.Matcher.Hash(req)
	}
	decoded := *req
	decoded.Body, _ = json.Marshal(value) // it has just been decoded: cannot fail
	return m.Matcher.Hash(&decoded)
}
