package idempotency

// Gate may close a route: it is asked after authentication and before any claim, for replays too (contract section 3).
type Gate interface {
	// Closed returns the answer of a closed route, or nil.
	Closed(req *Request) *Response
}

// OpenGate closes nothing.
type OpenGate struct{}

// Closed implements Gate.
func (OpenGate) Closed(*Request) *Response { return nil }
