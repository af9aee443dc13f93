package zoo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var credentialInRecord = Variant{
	Name:  "credential-in-record",
	Class: "credential stored",
	Story: "When an action fails, its record keeps the request's headers for whoever will look into it. One of them is the user's " +
		"bearer token, which now lies in the table, its backups and every export.",
	Seen:      "kitokoh/leopardo-hr#8052: answers with a fresh token in them were stored whole, in clear",
	Invariant: "no-secrets",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Faults: []string{"cut-before"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = headerKeepingClaimer{reference(p)}
		return p
	},
}

// headerKeepingClaimer gives each claim the headers of its request to keep.
type headerKeepingClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c headerKeepingClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, err := c.InsertClaimer.Claim(ctx, req)
	if claim != nil {
		claim.Completer = headerKeeper{&idempotency.RowCompleter{Store: c.Store}, req.HTTP.Header}
	}
	return claim, err
}

// headerKeeper stores the headers of what failed.
type headerKeeper struct {
	*idempotency.RowCompleter
	header http.Header
}

const keepHeadersSQL = `
UPDATE idempotency_keys SET response_body = jsonb_build_object('request_headers', $3::jsonb)
WHERE id = $1 AND locked_at = $2 AND status = 'failed'`

// Fail implements idempotency.Completer.
func (k headerKeeper) Fail(ctx context.Context, claim *idempotency.Claim, resp *idempotency.Response) error {
	if err := k.RowCompleter.Fail(ctx, claim, resp); err != nil {
		return err
	}
	header, err := json.Marshal(k.header)
	if err != nil {
		return fmt.Errorf("encode headers: %w", err)
	}
	if _, err := k.Store.Exec(ctx, keepHeadersSQL, claim.ID, claim.LockedAt, string(header)); err != nil {
		return fmt.Errorf("keep headers of record %d: %w", claim.ID, err)
	}
	return nil
}
