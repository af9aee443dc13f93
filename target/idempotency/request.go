package idempotency

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	// KeyHeader carries the client's key.
	KeyHeader = "Idempotency-Key"
	// ReplayedHeader is "true" on a replay.
	ReplayedHeader = "Idempotency-Replayed"
	// OperationHeader carries an opaque trace id of the caller: written to orders, audit rows and log lines. Ignored
	// when it is longer than 64 characters or has others than [A-Za-z0-9._:-].
	OperationHeader = "Idemstorm-Operation"
	// MaxBody is the longest request body in bytes (contract section 4).
	MaxBody = 1 << 20
)

var operationForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// Scope is within what a key means one thing. Two requests are rivals when key and scope are equal.
type Scope struct {
	// UserID is nil for a service call.
	UserID   *int32
	Endpoint string
}

// Identity is who calls: a user, or a service when UserID is nil.
type Identity struct {
	UserID *int32
}

// Request is one HTTP request as the parts and the action see it.
type Request struct {
	HTTP     *http.Request
	Route    *Route
	Identity Identity
	Body     []byte
	// Key is in canonical form, empty when the request is handled without one.
	Key   string
	Scope Scope
	Hash  string
	// OperationID is the caller's trace id, or empty.
	OperationID string
	// ExecutionID is fresh for each run of the action.
	ExecutionID uuid.UUID
	// Later collects statements of the action that are sent with audit and completion, after it returned.
	Later *pgx.Batch

	forwarder Forwarder
}

// Forward puts the key and the trace id on the header of a request that the action sends to another service.
func (r *Request) Forward(h http.Header) {
	r.forwarder.Forward(h, r)
}

// KeyOrNil is the key as a nullable column value.
func (r *Request) KeyOrNil() any { return nullable(r.Key) }

// OperationOrNil is the trace id as a nullable column value.
func (r *Request) OperationOrNil() any { return nullable(r.OperationID) }

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func newRequest(route *Route, r *http.Request, f Forwarder) *Request {
	req := &Request{HTTP: r, Route: route, forwarder: f}
	if op := r.Header.Get(OperationHeader); operationForm.MatchString(op) {
		req.OperationID = op
	}
	return req
}

// readBody returns an answer when the body cannot be used (contract section 4: before any claim).
func (r *Request) readBody(w http.ResponseWriter, reader BodyReader) *Response {
	body, err := reader.ReadBody(w, r.HTTP)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return answer(http.StatusRequestEntityTooLarge, "body_too_large")
	case err != nil:
		return answer(http.StatusBadRequest, "body_unreadable")
	}
	r.Body = body
	return r.checkBody()
}

func (r *Request) checkBody() *Response {
	if r.Route.Body == AnyBody || (r.Route.Body == OptionalJSONObject && len(r.Body) == 0) {
		return nil
	}
	trimmed := bytes.TrimLeft(r.Body, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(r.Body) {
		return answer(http.StatusBadRequest, "body_must_be_json_object")
	}
	return nil
}
