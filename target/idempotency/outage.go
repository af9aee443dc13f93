package idempotency

// Decision is what to do about a request while the store is out.
type Decision int

const (
	// Refuse answers 503; nothing is executed.
	Refuse Decision = iota
	// Proceed executes without deduplication.
	Proceed
)

// Stage is where the store failed.
type Stage string

// The stages of a keyed request that need the store before the action.
const (
	AtClaim  Stage = "claim"
	AtRead   Stage = "read"
	AtRetire Stage = "retire"
)

// StoreOutage is one failure of the store. Any error counts: refused, timed out, shut down, read only, no connection
// slot, no free connection in the pool. At AtClaim the row may exist all the same, when only its acknowledgement was lost.
type StoreOutage struct {
	Stage Stage
	Err   error
}

// OutagePolicy decides about a request that the store could not serve.
type OutagePolicy interface {
	Decide(req *Request, outage StoreOutage) Decision
}

// TierPolicy goes by the route's tier (contract section 4).
type TierPolicy struct{}

// Decide implements OutagePolicy.
func (TierPolicy) Decide(req *Request, _ StoreOutage) Decision {
	if req.Route.Tier == FailClosed {
		return Refuse
	}
	return Proceed
}
