package idempotency

import "net/http"

// Forwarder hands a key on to a service that the action calls, whose own deduplication then covers what ours cannot.
type Forwarder interface {
	Forward(h http.Header, req *Request)
}

// HeaderForwarder sends the key as it is, and the trace id.
type HeaderForwarder struct{}

// Forward implements Forwarder.
func (HeaderForwarder) Forward(h http.Header, req *Request) {
	if req.Key != "" {
		h.Set(KeyHeader, req.Key)
	}
	if req.OperationID != "" {
		h.Set(OperationHeader, req.OperationID)
	}
}
