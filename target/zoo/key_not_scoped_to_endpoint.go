package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var keyNotScopedToEndpoint = Variant{
	Name:  "key-not-scoped-to-endpoint",
	Class: "key shared across endpoints",
	Story: "The record is found by user and key. A client that makes one key for each of its own steps, and calls two endpoints in " +
		"one of them, is refused at the second.",
	Seen:      "LabsCrypt/remitlend#1680: the key alone found the response, across all routes that shared the middleware",
	Invariant: "scope-isolated",
	Scenario:  "scope",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = alter(p, sameEndpoint, `$3::text IS NOT NULL`)
		return p
	},
	Prepare: prepare(endpointlessConstraintSQL),
}

const endpointlessConstraintSQL = `
CREATE UNIQUE INDEX IF NOT EXISTS uq_idem_key_and_user ON idempotency_keys (idem_key, scope_user_id)`
