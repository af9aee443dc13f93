package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var getRunStore = Variant{
	Name:  "get-run-store",
	Class: "record written after the work",
	Story: "The idempotency store is used as a cache: get the answer by the key, or do the work and put the answer. While the " +
		"work is under way nothing shows that it is.",
	Seen:      "mastodon/mastodon#37879: the key did nothing when the second request came before the first was done",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = cachingClaimer{reference(p)}
		return p
	},
}

// cachingClaimer claims nothing.
type cachingClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c cachingClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	hit, err := look(ctx, c.Store, req)
	if err != nil || hit {
		return nil, err
	}
	return unfenced(c.InsertClaimer, req), nil
}
