package zoo

import (
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var keyComparedAsSpelled = Variant{
	Name:  "key-compared-as-spelled",
	Class: "one key in two spellings",
	Story: "The key is checked to be a UUID and stored as it was sent. A retry through a library that writes UUIDs in capitals has " +
		"another key, and another order.",
	Seen:      "ramsey/uuid#131: two spellings of one UUID, in lower and upper case, were not equal",
	Invariant: "at-most-once",
	Scenario:  "spelling",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Matcher = literalMatcher{p.Matcher}
		return p
	},
}

// literalMatcher accepts every case, and tells them apart.
type literalMatcher struct{ idempotency.Matcher }

// Key implements idempotency.Matcher.
func (m literalMatcher) Key(h http.Header) (string, error) {
	key, err := m.Matcher.Key(h)
	if key == "" || err != nil {
		return key, err
	}
	return h.Get(idempotency.KeyHeader), nil
}
