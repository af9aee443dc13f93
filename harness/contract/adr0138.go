package contract

import "time"

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// ADR0138 is the contract of the bundled server: sections 3 and 4 of the contract document. staleAfter and deadline are the
// values that the server was started with.
func ADR0138(staleAfter, deadline time.Duration) Contract {
	return Contract{
		Routes:     adrRoutes(),
		StaleAfter: staleAfter,
		Deadline:   deadline,
		MaxTTL:     week,
		Answers:    adrAnswers(),
	}
}

func adrRoutes() []Route {
	order := Evidence{Orders: 1}
	return []Route{
		{ID: "order", Method: "POST", Pattern: "/api/trading/orders", Tier: TierClosed, TTL: day, Replays: true, Gated: true, Evidence: order, Actions: []string{"order_placed"}},
		{ID: "close", Method: "POST", Pattern: "/api/trading/positions/{id}/close", Tier: TierClosed, TTL: day, Replays: true, Gated: true, Evidence: order, Actions: []string{"position_closed"}},
		{ID: "roll", Method: "POST", Pattern: "/api/trading/lcc/{position_id}/roll", Tier: TierClosed, TTL: day, Replays: true, Gated: true, Evidence: Evidence{Orders: 2}, Actions: []string{"position_rolled"}},
		{ID: "checkout", Method: "POST", Pattern: "/api/billing/checkout", Tier: TierOpen, TTL: week, Replays: true, Evidence: Evidence{Charge: true}, Actions: []string{"checkout"}},
		{ID: "account", Method: "PATCH", Pattern: "/api/account", Tier: TierOpen, TTL: day, Actions: []string{"account_update"}},
		{ID: "cancel", Method: "DELETE", Pattern: "/api/trading/orders/{id}"},
		{ID: "waitlist", Method: "POST", Pattern: "/api/waitlist/signup"},
		{ID: "webhook", Method: "POST", Pattern: "/api/billing/webhooks/provider"},
	}
}

func adrAnswers() []Rule {
	yes, no := true, false
	return []Rule{
		{Answer: AnswerReplay, Class: 2, Replay: &yes},
		{Answer: AnswerFresh, Class: 2, Replay: &no},
		{Answer: AnswerMismatch, Status: 422, Error: "idempotency_key_body_mismatch"},
		{Answer: AnswerInFlight, Status: 409, Error: "idempotency_in_flight"},
		{Answer: AnswerStale, Status: 409, Error: "idempotency_previous_failed", Reason: "stale_in_flight"},
		{Answer: AnswerPreviousFailed, Status: 409, Error: "idempotency_previous_failed"},
		{Answer: AnswerMalformed, Status: 400, Error: "Idempotency-Key must be a UUID string"},
		{Answer: AnswerStoreDown, Status: 503, Error: "idempotency_store_unavailable"},
		{Answer: AnswerGated, Status: 503, Error: "new_orders_disabled"},
		{Answer: AnswerRejected, Class: 4},
		{Answer: AnswerFailed, Class: 5},
	}
}
