package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var hashInLookupKey = Variant{
	Name:  "hash-in-lookup-key",
	Class: "hash part of the key",
	Story: "Key and request hash together find the record, so that the same key with another body cannot get a wrong answer. It " +
		"gets none: it finds no record, and a client that changed its retry by a digit has two orders.",
	Seen: "KanishJebaMathewM/Truxify#2387: the body's hash became part of the stored key, so that another body under " +
		"the same key executes",
	Invariant: "mismatch-rejected",
	Scenario:  "body-mismatch",
	Explore:   &Exploration{Case: "mismatch"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = alter(p, sameKey, sameKey+` AND request_hash = $6`)
		return p
	},
	Prepare: prepare(hashInConstraintSQL),
}

const hashInConstraintSQL = `
ALTER TABLE idempotency_keys DROP CONSTRAINT IF EXISTS uq_idem_key_user_endpoint;
CREATE UNIQUE INDEX IF NOT EXISTS uq_idem_key_and_hash
    ON idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash)`
