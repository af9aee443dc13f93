package zoo

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var rawBodyHash = Variant{
	Name:  "raw-body-hash",
	Class: "hash too fine",
	Story: "The bytes of the body are hashed as they came. A client that builds its retry anew, with its fields in another order, " +
		"is told that it has used the key for something else.",
	Seen:      "mojaloop/project#2463: the duplicate check of transfers fails when a body's fields come in another order",
	Invariant: "mismatch-rejected",
	Scenario:  "spelling",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Matcher = rawMatcher{p.Matcher}
		return p
	},
}

// rawMatcher tells spellings of one request apart.
type rawMatcher struct{ idempotency.Matcher }

// Hash implements idempotency.Matcher.
func (rawMatcher) Hash(req *idempotency.Request) string {
	sum := sha256.Sum256([]byte(req.HTTP.Method + " " + req.HTTP.URL.RequestURI() + "\n" + string(req.Body)))
	return hex.EncodeToString(sum[:])
}
