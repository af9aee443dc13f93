package orderserver

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// waits is how many times a request may have to wait for a connection: for its session, its claim and its transaction. Each may take one
// part of the deadline, and one part is left for the statements.
const waits = 3

// patience bounds the wait for a connection below the request's deadline. Waiting requests are served oldest first: after an outage, with as
// many of them as arrived during a deadline, each would get its connection with no time left to use it, its statement would be broken off and
// the connection with it, and the next one would fare the same, although the database is back. Who gives up earlier leaves the connection
// to one who can use it. A caller without a deadline waits as long as it likes.
type patience struct{ limit time.Duration }

func boundWait(cfg *pgxpool.Config, deadline time.Duration) {
	cfg.ConnConfig.Tracer = patience{deadline / (waits + 1)}
}

type cancelKey struct{}

// TraceAcquireStart implements pgxpool.AcquireTracer: the pool waits by the context that it returns.
func (p patience) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	if _, bounded := ctx.Deadline(); !bounded {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	return context.WithValue(ctx, cancelKey{}, cancel)
}

// TraceAcquireEnd implements pgxpool.AcquireTracer.
func (patience) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireEndData) {
	if cancel, bounded := ctx.Value(cancelKey{}).(context.CancelFunc); bounded {
		cancel()
	}
}

// TraceQueryStart implements pgx.QueryTracer, which every tracer must.
func (patience) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (patience) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
