package claimtest_test

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// right is what the broken ones have right.
type right struct {
	*idempotency.InsertClaimer
	pool *pgxpool.Pool
}

func newRight(s idempotency.Stores) right {
	return right{&idempotency.InsertClaimer{Store: s.Pool, StaleAfter: s.StaleAfter}, s.Pool}
}

// broken are strategies with one mistake each, and the rule that convicts it.
var broken = []struct {
	name, breaks string
	make         func(idempotency.Stores) idempotency.Claimer
}{
	{"upserts", "many duplicates at once", func(s idempotency.Stores) idempotency.Claimer { return upserts{newRight(s)} }},
	{"steals in flight", "a duplicate in flight", func(s idempotency.Stores) idempotency.Claimer { return upserts{newRight(s)} }},
	{"decodes the body", "a replay equals", func(s idempotency.Stores) idempotency.Claimer { return decodes{newRight(s)} }},
	{"forgets the hash", "another body under a key that has ended", func(s idempotency.Stores) idempotency.Claimer { return hashless{newRight(s)} }},
	{"hides the hash in flight", "another body in flight", func(s idempotency.Stores) idempotency.Claimer { return hashless{newRight(s)} }},
	{"frees a failed key", "a failed action", func(s idempotency.Stores) idempotency.Claimer { return frees{newRight(s)} }},
	{"replays for ever", "a record past its time", func(s idempotency.Stores) idempotency.Claimer { return immortal{newRight(s)} }},
	{"stores no end of its own", "an answer that may not be stored", func(s idempotency.Stores) idempotency.Claimer { return neverAgain{newRight(s)} }},
	{"keeps its connection", "nothing is held", func(s idempotency.Stores) idempotency.Claimer { return keeps{newRight(s)} }},
	{"ignores its context", "a cancelled claim", func(s idempotency.Stores) idempotency.Claimer { return deaf{newRight(s)} }},
	{"has no fence", "a worker that lost its claim", func(s idempotency.Stores) idempotency.Claimer { return fenceless{newRight(s)} }},
	{"never goes stale", "a worker that lost its claim", func(s idempotency.Stores) idempotency.Claimer { return ageless{newRight(s)} }},
	{"lets everyone retire", "a stale record", func(s idempotency.Stores) idempotency.Claimer { return generous{newRight(s)} }},
	{"takes a lost answer for a claim", "an answer that is lost", func(s idempotency.Stores) idempotency.Claimer { return hopeful{newRight(s)} }},
	{"forgets the user", "one key of two users", func(s idempotency.Stores) idempotency.Claimer { return everybodys{newRight(s)} }},
	{"forgets the endpoint", "one key of two users", func(s idempotency.Stores) idempotency.Claimer { return everywhere{newRight(s)} }},
	{"deduplicates services", "a service's key", func(s idempotency.Stores) idempotency.Claimer { return namesServices{newRight(s)} }},
	{"swallows the store's error", "a store that refuses", func(s idempotency.Stores) idempotency.Claimer { return silent{newRight(s)} }},
	{"waits for ever", "a store that refuses", func(s idempotency.Stores) idempotency.Claimer { return deaf{newRight(s)} }},
}

// upserts takes the key from whoever has it.
type upserts struct{ right }

const upsertSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
VALUES ($1, $2, $3, $4, NOW() + $5::interval)
ON CONFLICT ON CONSTRAINT uq_idem_key_user_endpoint DO UPDATE SET status = 'in_flight'
RETURNING id, locked_at`

func (c upserts) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	var claim idempotency.Claim
	err := c.pool.QueryRow(ctx, upsertSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL).Scan(&claim.ID, &claim.LockedAt)
	return &claim, err
}

// decodes passes the stored answer through a map, in which numbers are float64.
type decodes struct{ right }

func (c decodes) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.right.Read(ctx, req, audit)
	var body map[string]any
	if rec != nil && json.Unmarshal(rec.Body, &body) == nil {
		rec.Body, _ = json.Marshal(body)
	}
	return rec, err
}

// hashless answers everybody as if they had asked the same.
type hashless struct{ right }

func (c hashless) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.right.Read(ctx, req, audit)
	if rec != nil {
		rec.Hash = req.Hash
	}
	return rec, err
}

// frees removes a failed record, so that a retry may do better.
type frees struct{ right }

func (c frees) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.right.Read(ctx, req, audit)
	if rec != nil && rec.Status == idempotency.Failed {
		_, err = c.pool.Exec(ctx, `DELETE FROM idempotency_keys WHERE id = $1`, rec.ID)
		return nil, err
	}
	return rec, err
}

// immortal never looks at expires_at.
type immortal struct{ right }

func (c immortal) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.right.Read(ctx, req, audit)
	if rec != nil {
		rec.Expired = false
	}
	return rec, err
}

// neverAgain does not take over what has no stored answer.
type neverAgain struct{ right }

func (neverAgain) Reclaim(context.Context, *idempotency.Record) (*idempotency.Claim, error) {
	return nil, nil
}

// keeps takes an advisory lock on a connection that only winners give back.
type keeps struct{ right }

func (c keeps) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	claim, err := c.right.Claim(ctx, req)
	if claim != nil {
		conn.Release()
	}
	return claim, err
}

// deaf waits for the store whatever becomes of the request.
type deaf struct{ right }

func (c deaf) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	return c.right.Claim(context.WithoutCancel(ctx), req)
}

// fenceless completes by the key, whoever has it now.
type fenceless struct{ right }

func (c fenceless) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, err := c.right.Claim(ctx, req)
	if claim != nil {
		claim.Completer = byKey{&idempotency.RowCompleter{Store: c.pool}}
	}
	return claim, err
}

type byKey struct{ *idempotency.RowCompleter }

const completeByKeySQL = `
UPDATE idempotency_keys SET status = 'completed', response_code = $3, response_body = $4 WHERE idem_key = $1 AND scope_endpoint = $2`

func (byKey) Complete(b *pgx.Batch, _ *idempotency.Claim, req *idempotency.Request, resp *idempotency.Response) {
	b.Queue(completeByKeySQL, req.Key, req.Scope.Endpoint, resp.Status, idempotency.StoredBody(req, resp))
}

// ageless never finds a claim abandoned.
type ageless struct{ right }

func (c ageless) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.right.Read(ctx, req, audit)
	if rec != nil {
		rec.Stale = false
	}
	return rec, err
}

// generous tells everyone who found it stale that it was they who retired it.
type generous struct{ right }

func (c generous) Retire(ctx context.Context, rec *idempotency.Record) (bool, error) {
	_, err := c.right.Retire(ctx, rec)
	return err == nil, err
}

// hopeful takes a claim whose answer was lost for won.
type hopeful struct{ right }

func (c hopeful) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, err := c.right.Claim(ctx, req)
	if err != nil {
		return &idempotency.Claim{LockedAt: time.Now(), Completer: noCompleter{}}, nil
	}
	return claim, nil
}

type noCompleter struct{}

func (noCompleter) Complete(*pgx.Batch, *idempotency.Claim, *idempotency.Request, *idempotency.Response) {
}

func (noCompleter) Fail(context.Context, *idempotency.Claim, *idempotency.Response) error { return nil }

// everybodys claims in one user's name.
type everybodys struct{ right }

func (c everybodys) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	return c.right.Claim(ctx, named(req))
}

func (c everybodys) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	return c.right.Read(ctx, named(req), audit)
}

func named(req *idempotency.Request) *idempotency.Request {
	other := *req
	first := int32(1)
	other.Scope.UserID = &first
	return &other
}

// everywhere claims for all endpoints.
type everywhere struct{ right }

func (c everywhere) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	return c.right.Claim(ctx, anywhere(req))
}

func (c everywhere) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	return c.right.Read(ctx, anywhere(req), audit)
}

func anywhere(req *idempotency.Request) *idempotency.Request {
	other := *req
	other.Scope.Endpoint = "*"
	return &other
}

// namesServices takes a call without a user for user 1's.
type namesServices struct{ right }

func (c namesServices) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	if req.Scope.UserID == nil {
		req = named(req)
	}
	return c.right.Claim(ctx, req)
}

// silent calls a store that is out a key that is taken.
type silent struct{ right }

func (c silent) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	claim, _ := c.right.Claim(ctx, req)
	return claim, nil
}
