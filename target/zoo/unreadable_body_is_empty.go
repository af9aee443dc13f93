package zoo

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var unreadableBodyIsEmpty = Variant{
	Name:  "unreadable-body-is-empty",
	Class: "hash too coarse",
	Story: "What is hashed is the parsed body, and where the parser found nothing that it could read, that is an empty object. No " +
		"body, a broken one and {} are then all the same request.",
	Seen:      "expressjs/body-parser#269: a body that no parser read is an empty object to whoever looks at it later",
	Invariant: "mismatch-rejected",
	Scenario:  "spelling",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Matcher = lenientMatcher{p.Matcher}
		return p
	},
}

// lenientMatcher has one hash for all that it cannot read.
type lenientMatcher struct{ idempotency.Matcher }

// Hash implements idempotency.Matcher.
func (m lenientMatcher) Hash(req *idempotency.Request) string {
	parsed := *req
	if !utf8.Valid(req.Body) || !json.Valid(req.Body) {
		parsed.Body = []byte("{}")
	}
	return m.Matcher.Hash(&parsed)
}
