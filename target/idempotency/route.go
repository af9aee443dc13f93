package idempotency

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Tier says what a route does with keys, and what happens when the store cannot answer (contract section 3).
type Tier int

const (
	// NoKeys ignores the header: the route has its own natural deduplication.
	NoKeys Tier = iota
	// FailClosed refuses a keyed request with 503 while the store is out. Routes that move money.
	FailClosed
	// FailOpen proceeds without deduplication while the store is out.
	FailOpen
	// ServiceOnly claims only calls that have no user; their NULL scope never conflicts, so the key alone
	// deduplicates nothing (contract section 2). Fails open.
	ServiceOnly
)

// MaxTTL is the longest life of a record (contract section 2).
const MaxTTL = 7 * 24 * time.Hour

// BodyRule says what a route takes as a request body.
type BodyRule int

const (
	// AnyBody passes every body on.
	AnyBody BodyRule = iota
	// JSONObject answers 400, before any claim, to whatever is not one JSON object.
	JSONObject
	// OptionalJSONObject takes an empty body too.
	OptionalJSONObject
)

// Tx is what an action may do inside the business transaction. The transaction begins with the first statement, so an
// action that calls another service first holds no connection meanwhile.
type Tx interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Action is a route's business. What it writes through tx commits together with audit and completion, or not at all.
// It refuses by returning a *Refusal; any other error, a panic or a Response of 400 and above fails the request and
// rolls back as well. Statements whose results it does not need belong in req.Later: they share a round trip with the completion.
type Action func(ctx context.Context, tx Tx, req *Request) (Response, error)

// Route is one endpoint under the middleware.
type Route struct {
	// Endpoint is method and pattern, e.g. "POST /api/trading/orders": scope of a key, label of a counter.
	Endpoint string
	Tier     Tier
	// TTL is the life of a record from its claim, by the database's clock; at most MaxTTL. Unused for NoKeys.
	TTL  time.Duration
	Body BodyRule
	// NoReplay marks answers that hold personal data: they are never stored, and a retry executes again.
	NoReplay bool
	// Precheck may answer before any claim, so that the key is not used up. Optional.
	Precheck func(*Request) *Response
	Action   Action
}

func (r *Route) validate() error {
	switch {
	case r.Endpoint == "":
		return fmt.Errorf("route without an endpoint")
	case r.Action == nil:
		return fmt.Errorf("route %q has no action", r.Endpoint)
	case r.Tier != NoKeys && (r.TTL <= 0 || r.TTL > MaxTTL):
		return fmt.Errorf("route %q: TTL %s is not within (0, %s]", r.Endpoint, r.TTL, MaxTTL)
	}
	return nil
}
