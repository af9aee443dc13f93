package idempotency

// Scoper says within what a key means one thing.
type Scoper interface {
	// Scope is called after the hash is known.
	Scope(req *Request) Scope
}

// UserEndpointScoper is the contract's: the calling user and the route's endpoint.
type UserEndpointScoper struct{}

// Scope implements Scoper.
func (UserEndpointScoper) Scope(req *Request) Scope {
	return Scope{UserID: req.Identity.UserID, Endpoint: req.Route.Endpoint}
}
