package orderserver

import (
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"sync/atomic"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// flags are one process's switches, effective on the next request (contract section 3).
type flags struct {
	middleware, ordersDisabled atomic.Bool
}

// flagState is how the admin route speaks of them; what a PUT leaves out stays as it is.
type flagState struct {
	Middleware     *bool `json:"idempotency_middleware,omitempty"`
	OrdersDisabled *bool `json:"new_orders_disabled,omitempty"`
}

func newFlags(cfg Config) *flags {
	f := &flags{}
	f.middleware.Store(!cfg.MiddlewareOff)
	f.ordersDisabled.Store(cfg.OrdersDisabled)
	return f
}

func (f *flags) show(w http.ResponseWriter, _ *http.Request) {
	middleware, disabled := f.middleware.Load(), f.ordersDisabled.Load()
	writeJSON(w, http.StatusOK, flagState{Middleware: &middleware, OrdersDisabled: &disabled})
}

// set refuses a name that it does not know: a misspelled kill switch must not look as if it had worked.
func (f *flags) set(w http.ResponseWriter, r *http.Request) {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, idempotency.MaxBody))
	decoder.DisallowUnknownFields()
	var want flagState
	if err := decoder.Decode(&want); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_flags"})
		return
	}
	if want.Middleware != nil {
		f.middleware.Store(*want.Middleware)
	}
	if want.OrdersDisabled != nil {
		f.ordersDisabled.Store(*want.OrdersDisabled)
	}
	f.show(w, r)
}

// adminOnly lets through whoever knows the token.
func adminOnly(token string, next http.HandlerFunc) http.HandlerFunc {
	want := []byte("Bearer " + token)
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			writeJSON(w, http.StatusUnauthorized, map[string]string{"error": "unauthorized"})
			return
		}
		next(w, r)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone; there is nobody else to tell
}

// orderGate closes the order routes while new orders are disabled; replays too.
type orderGate struct{ flags *flags }

// Closed implements idempotency.Gate.
func (g orderGate) Closed(req *idempotency.Request) *idempotency.Response {
	if !g.flags.ordersDisabled.Load() || !orderRoutes[req.Route.Endpoint] {
		return nil
	}
	resp := (&idempotency.Refusal{Status: http.StatusServiceUnavailable, Code: "new_orders_disabled"}).Response()
	return &resp
}
