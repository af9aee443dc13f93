package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var lookAlikesAreDuplicates = Variant{
	Name:  "look-alikes-are-duplicates",
	Class: "content taken for identity",
	Story: "Some clients make a new key for each retry, so a request of the same user with the same content counts as a duplicate " +
		"too, whatever its key. Who buys the same again is shown the first order and gets no second one.",
	Seen: "AuthorizeNet/inperson-sdk-android#50: a second payment of the same amount by the same card is refused as a " +
		"duplicate",
	Invariant: "acked-durable",
	Scenario:  "scope",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = alter(p, sameKey, `(`+sameKey+` OR request_hash = $6)`)
		return p
	},
	Prepare: prepare(contentConstraintSQL),
}

const contentConstraintSQL = `
CREATE UNIQUE INDEX IF NOT EXISTS uq_idem_content ON idempotency_keys (scope_user_id, scope_endpoint, request_hash)`
