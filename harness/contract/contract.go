// Package contract is the idempotency contract as data: which routes promise what, and how each situation is answered.
//
// It stands beside the walk, not in it: a subject declares one, the plan draws its routes from it, and the checks judge by
// it. It shares no code with the bundled server, so that a mistake there is not repeated here.
package contract

import (
	"strings"
	"time"
)

// Tier says what a route promises while the key store cannot be reached (contract, section 3).
type Tier int

// The tiers. The zero value promises nothing.
const (
	TierNone   Tier = 0 // no idempotency middleware on the route
	TierClosed Tier = 1 // fail closed: 503 and nothing executed
	TierOpen   Tier = 2 // fail open: proceeds without dedup
)

// Evidence names what one execution of a route leaves behind, beside its business audit row.
type Evidence struct {
	Orders int  `json:"orders,omitempty"` // order rows an execution writes: 1, or 2 for a roll
	Charge bool `json:"charge,omitempty"` // the payment provider is charged once
}

// Route is one endpoint of the subject.
type Route struct {
	ID       string        `json:"id"`      // short name used by scenarios, such as "order"
	Method   string        `json:"method"`  // HTTP method
	Pattern  string        `json:"pattern"` // path with {placeholders}, as the key's scope spells it
	Tier     Tier          `json:"tier"`
	TTL      time.Duration `json:"ttl_ns,omitempty"` // expires_at − created_at of its records
	Replays  bool          `json:"replays"`          // a completed key is answered from its record; false where answers hold PII
	Gated    bool          `json:"gated,omitempty"`  // closed by the order gate
	Evidence Evidence      `json:"evidence"`
	Actions  []string      `json:"actions,omitempty"` // values of the business audit row's action
}

// Scope is the route's part of a key's scope: method and pattern.
func (r Route) Scope() string { return r.Method + " " + r.Pattern }

// Contract is what a subject promises. Times are durations, codes are HTTP status codes.
type Contract struct {
	Routes     []Route       `json:"routes"`
	StaleAfter time.Duration `json:"stale_after_ns"` // age past which an in-flight record counts as abandoned
	Deadline   time.Duration `json:"deadline_ns"`    // the server's own bound on one request
	MaxTTL     time.Duration `json:"max_ttl_ns"`
	Answers    []Rule        `json:"answers"` // first match wins; see Classify
	Claims     Claims        `json:"claims,omitzero"`

	// Of somebody else's server: what each situation is answered, and the header that tells a replay.
	Promises   []Promise     `json:"promises,omitempty"`
	Marker     Marker        `json:"marker,omitzero"`
	Recovery   time.Duration `json:"recovery_ns,omitempty"` // from the end of a fault to a key's final answer; 0 is not stated
	SharedKeys bool          `json:"shared_keys,omitempty"` // a key is the same for all users
	Foreign    bool          `json:"foreign,omitempty"`     // it is somebody else's: what it does not state is not judged, whatever a scenario claims

	// Unstated are invariants that the subject does not promise, or of which it is not known, each with why.
	Unstated map[string]string `json:"unstated,omitempty"`
}

// Route finds a route by its id; ok is false for an unknown one.
func (c Contract) Route(id string) (r Route, ok bool) {
	for _, r := range c.Routes {
		if r.ID == id {
			return r, true
		}
	}
	return Route{}, false
}

// Promise is what the contract says about a situation; nothing, if it does not.
func (c Contract) Promise(s Situation) Promise {
	for _, p := range c.Promises {
		if p.Situation == s {
			return p
		}
	}
	return Promise{Situation: s}
}

// ByScope finds a route by its scope text; ok is false for an unknown one.
func (c Contract) ByScope(scope string) (r Route, ok bool) {
	for _, r := range c.Routes {
		if r.Scope() == scope {
			return r, true
		}
	}
	return Route{}, false
}

// adrMarker tells the bundled server's replays.
var adrMarker = profileADR0138.Marker

// Marked says whether an answer is marked as a replay; header gives its headers.
func (c Contract) Marked(header func(name string) string) bool {
	marker := c.Marker
	if !c.Foreign {
		marker = adrMarker
	}
	return marker.Stated() && strings.EqualFold(strings.TrimSpace(header(marker.Header)), marker.Value)
}
