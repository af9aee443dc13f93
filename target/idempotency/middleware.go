package idempotency

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// DefaultRequestDeadline bounds all waiting of one request for the database (contract section 4).
const DefaultRequestDeadline = 2 * time.Second

// Options configure a Middleware. Only Identify is required.
type Options struct {
	// Identify authenticates a request before anything else. A *Refusal is answered as it is, any other error by 503.
	Identify func(ctx context.Context, r *http.Request) (Identity, error)
	// Enabled is asked on every request; false passes requests through as if they had no key. nil means always on.
	Enabled func() bool
	// RequestDeadline bounds a request from its arrival to its answer; 0 means DefaultRequestDeadline. Waiting for the
	// store has all of it on a FailClosed route, and half of it on others, so that these can still proceed.
	RequestDeadline time.Duration
	// ActionAllowance is added to the deadline once the action runs, for actions that are meant to be slow.
	ActionAllowance time.Duration
	// Metrics may be nil.
	Metrics *Metrics
	// Log may be nil.
	Log *slog.Logger
}

// Middleware makes routes out of actions. It is safe for concurrent use and holds no state of requests: any number of
// processes may share one database.
type Middleware struct {
	parts Parts
	opts  Options
}

// New returns a Middleware of the given parts.
func New(parts Parts, opts Options) (*Middleware, error) {
	if name := parts.missing(); name != "" {
		return nil, fmt.Errorf("idempotency: part %s is missing", name)
	}
	if opts.Identify == nil {
		return nil, errors.New("idempotency: Options.Identify is missing")
	}
	if opts.RequestDeadline <= 0 {
		opts.RequestDeadline = DefaultRequestDeadline
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Middleware{parts: parts, opts: opts}, nil
}

// Handler returns the route's handler, for any router. It panics on a route that is put together wrongly, as that is
// a mistake in the program.
func (m *Middleware) Handler(route Route) http.Handler {
	if err := route.validate(); err != nil {
		panic("idempotency: " + err.Error())
	}
	return &endpoint{Middleware: m, route: &route, count: m.opts.Metrics.of(&route)}
}

// endpoint is one route at work.
type endpoint struct {
	*Middleware
	route *Route
	count counters
}

// ServeHTTP implements http.Handler.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := newRequest(e.route, r, e.parts.Forwarder)
	e.serve(w, req).write(w)
}

// serve keeps the order of contract section 3: authentication, gates, what needs no claim, the key.
func (e *endpoint) serve(w http.ResponseWriter, req *Request) *Response {
	arrived := time.Now()
	if resp := e.identify(req); resp != nil {
		return resp
	}
	if resp := e.parts.Gate.Closed(req); resp != nil {
		return resp
	}
	spent := time.Since(arrived)
	if resp := req.readBody(w, e.parts.Body); resp != nil {
		return resp
	}
	if e.route.Precheck != nil {
		if resp := e.route.Precheck(req); resp != nil {
			return resp
		}
	}
	// A client that sends slowly spends its own time, not the server's.
	return e.admit(req, time.Now().Add(-spent))
}

// identify returns an answer when the caller is not known.
func (e *endpoint) identify(req *Request) *Response {
	ctx, cancel := e.detached(req, time.Now().Add(e.opts.RequestDeadline))
	defer cancel()
	identity, err := e.opts.Identify(ctx, req.HTTP)
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		resp := refusal.Response()
		return &resp
	case err != nil:
		e.warn(req, "cannot authenticate", err)
		return unavailable("database_unavailable")
	}
	req.Identity = identity
	return nil
}

// detached is not cancelled by a client that hangs up: that must neither undo an action nor cost a connection.
func (e *endpoint) detached(req *Request, deadline time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(context.WithoutCancel(req.HTTP.Context()), deadline)
}

func (e *endpoint) warn(req *Request, what string, err error) {
	e.opts.Log.Warn(what, "endpoint", e.route.Endpoint, "op", req.OperationID, "err", err)
}
