package orderserver

import (
	"context"
	"net/http"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// The endpoints that take keys, as scopes and counters name them (contract section 3).
const (
	OrdersEndpoint   = "POST /api/trading/orders"
	CloseEndpoint    = "POST /api/trading/positions/{id}/close"
	RollEndpoint     = "POST /api/trading/lcc/{position_id}/roll"
	CheckoutEndpoint = "POST /api/billing/checkout"
	AccountEndpoint  = "PATCH /api/account"
)

// The endpoints that ignore keys, but for a service's signups.
const (
	cancelEndpoint   = "DELETE /api/trading/orders/{id}"
	waitlistEndpoint = "POST /api/waitlist/signup"
	webhookEndpoint  = "POST /api/billing/webhooks/provider"
)

// orderRoutes are those that the new-orders gate closes. Cancelling stays possible.
var orderRoutes = map[string]bool{OrdersEndpoint: true, CloseEndpoint: true, RollEndpoint: true}

const day = 24 * time.Hour

// routes is the one list of what the server does with requests that are authenticated.
func (s *Server) routes() []idempotency.Route {
	const closed, isOpen, none, service = idempotency.FailClosed, idempotency.FailOpen, idempotency.NoKeys, idempotency.ServiceOnly
	const object, optional, anyBody = idempotency.JSONObject, idempotency.OptionalJSONObject, idempotency.AnyBody
	return []idempotency.Route{
		{Endpoint: OrdersEndpoint, Tier: closed, TTL: day, Body: object, Precheck: first(userOnly, knownOrderType), Action: placeOrder},
		{Endpoint: CloseEndpoint, Tier: closed, TTL: day, Body: optional, Precheck: userOnly, Action: closePosition},
		{Endpoint: RollEndpoint, Tier: closed, TTL: day, Body: object, Precheck: userOnly, Action: rollPosition},
		{Endpoint: CheckoutEndpoint, Tier: isOpen, TTL: 7 * day, Body: object, Precheck: userOnly, Action: s.checkout},
		{Endpoint: AccountEndpoint, Tier: isOpen, TTL: day, Body: object, NoReplay: true, Precheck: userOnly, Action: updateAccount},
		{Endpoint: cancelEndpoint, Tier: none, Body: anyBody, Precheck: userOnly, Action: cancelOrder},
		{Endpoint: waitlistEndpoint, Tier: service, TTL: day, Body: object, Action: signUp},
		{Endpoint: webhookEndpoint, Tier: none, Body: object, Precheck: serviceOnly, Action: receiveEvent},
	}
}

// mux adds what needs no session: health, counters, and the admin route, which has a token of its own.
func (s *Server) mux(mw *idempotency.Middleware) *http.ServeMux {
	mux := http.NewServeMux()
	for _, route := range s.routes() {
		if ttl, ok := s.cfg.TTL[route.Endpoint]; ok {
			route.TTL = ttl
		}
		if route.Tier != idempotency.NoKeys && s.cfg.HandlerDelay > 0 {
			route.Action = delayed(s.cfg.HandlerDelay, route.Action)
		}
		mux.Handle(route.Endpoint, mw.Handler(route))
	}
	mux.HandleFunc("GET /healthz", s.healthy)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", s.metrics)
	if s.cfg.AdminToken != "" {
		mux.HandleFunc("GET /admin/flags", adminOnly(s.cfg.AdminToken, s.flags.show))
		mux.HandleFunc("PUT /admin/flags", adminOnly(s.cfg.AdminToken, s.flags.set))
		mux.HandleFunc("GET /admin/clock", adminOnly(s.cfg.AdminToken, s.clock.show))
		mux.HandleFunc("PUT /admin/clock", adminOnly(s.cfg.AdminToken, s.clock.set))
	}
	return mux
}

// delayed makes an action slow, between claim and transaction.
func delayed(d time.Duration, next idempotency.Action) idempotency.Action {
	return func(ctx context.Context, tx idempotency.Tx, req *idempotency.Request) (idempotency.Response, error) {
		select {
		case <-time.After(d):
			return next(ctx, tx, req)
		case <-ctx.Done():
			return idempotency.Response{}, ctx.Err()
		}
	}
}

// precheck answers before any claim, or not.
type precheck = func(*idempotency.Request) *idempotency.Response

// first asks one check after the other.
func first(checks ...precheck) precheck {
	return func(req *idempotency.Request) *idempotency.Response {
		for _, check := range checks {
			if resp := check(req); resp != nil {
				return resp
			}
		}
		return nil
	}
}

// userOnly keeps service tokens away from what belongs to a person.
func userOnly(req *idempotency.Request) *idempotency.Response {
	if req.Identity.UserID != nil {
		return nil
	}
	resp := errUserRequired.Response()
	return &resp
}

// serviceOnly keeps persons away from what services report.
func serviceOnly(req *idempotency.Request) *idempotency.Response {
	if req.Identity.UserID == nil {
		return nil
	}
	resp := errServiceRequired.Response()
	return &resp
}
