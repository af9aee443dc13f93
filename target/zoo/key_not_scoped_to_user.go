package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var keyNotScopedToUser = Variant{
	Name:  "key-not-scoped-to-user",
	Class: "key shared across users",
	Story: "A UUID is unique in the world, so the key alone is the key. A client library with a fixed key, or a user who has seen " +
		"another's in a log, is handed that other user's answer.",
	Seen: "paveg/hono-idempotency#126: a set-up without a prefix for each user handed one user another's stored " +
		"response",
	Invariant: "scope-isolated",
	Scenario:  "scope",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = alter(p, sameUser, `$2::integer IS NOT DISTINCT FROM $2`)
		return p
	},
	Prepare: prepare(userlessConstraintSQL),
}

const userlessConstraintSQL = `
CREATE UNIQUE INDEX IF NOT EXISTS uq_idem_key_and_endpoint ON idempotency_keys (idem_key, scope_endpoint)`
