package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var nullUserEquals = Variant{
	Name:  "null-user-equals",
	Class: "NULL compared by =",
	Story: "Service calls have no user, and their keys were made to conflict like others by a constraint that takes NULLs for equal. " +
		"The look-up still says \"=\", which NULL never is: the claim is lost to a record that cannot be found.",
	Seen: "eclipse-dirigible/dirigible#7134: a look-up by equality never matches a key with a NULL in it, and " +
		"duplicates are made",
	Invariant: "recovers",
	Scenario:  "null-scope",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = alter(p, sameUser, `scope_user_id = $2`)
		return p
	},
	Prepare: prepare(nullsConflictSQL),
}

const nullsConflictSQL = `
CREATE UNIQUE INDEX IF NOT EXISTS uq_idem_key_nulls
    ON idempotency_keys (idem_key, scope_user_id, scope_endpoint) NULLS NOT DISTINCT`
