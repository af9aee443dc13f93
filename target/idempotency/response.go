package idempotency

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Response is an answer before it is written: a status, a JSON body, and what the audit says about it.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// Audit is the one audit row of this execution; nil writes none.
	Audit *AuditEntry
}

// AuditEntry is what an action leaves in the audit log, in its own transaction.
type AuditEntry struct {
	// Action names the business, e.g. "order_placed".
	Action string
	// Detail is a JSON object without personal data, or nil.
	Detail []byte
}

// JSON returns a Response whose body is v.
func JSON(status int, v any) (Response, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return Response{}, fmt.Errorf("encode answer: %w", err)
	}
	return Response{Status: status, Body: body}, nil
}

// Refusal is an action's no: answered as {"error": Code, "field": Field}, rolled back, the record marked failed.
type Refusal struct {
	Status int
	Code   string
	// Field names the field of the request that is at fault, if one is.
	Field string
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Field == "" {
		return fmt.Sprintf("refused: %s", r.Code)
	}
	return fmt.Sprintf("refused: %s (field %s)", r.Code, r.Field)
}

// Response is the answer that tells the client.
func (r *Refusal) Response() Response {
	return *answerWith(r.Status, errorBody{Error: r.Code, Field: r.Field})
}

// errorBody is the shape of every answer that is not a success.
type errorBody struct {
	Error        string `json:"error"`
	Field        string `json:"field,omitempty"`
	Reason       string `json:"reason,omitempty"`
	RetryAfterMS int    `json:"retry_after_ms,omitempty"`
}

func answer(status int, code string) *Response {
	return answerWith(status, errorBody{Error: code})
}

func answerWith(status int, body errorBody) *Response {
	encoded, _ := json.Marshal(body) // strings and a number: cannot fail
	resp := &Response{Status: status, Body: encoded}
	if body.RetryAfterMS > 0 {
		resp.Header = http.Header{"Retry-After": {strconv.Itoa((body.RetryAfterMS + 999) / 1000)}}
	}
	return resp
}

// The answers of contract section 4 that come from a record, or from the want of one.
func malformedKey() *Response {
	return answer(http.StatusBadRequest, "Idempotency-Key must be a UUID string")
}

func bodyMismatch() *Response {
	return answer(http.StatusUnprocessableEntity, "idempotency_key_body_mismatch")
}

func previousFailed(reason string) *Response {
	return answerWith(http.StatusConflict, errorBody{Error: "idempotency_previous_failed", Reason: reason})
}

func inFlight() *Response {
	return answerWith(http.StatusConflict, errorBody{Error: "idempotency_in_flight", RetryAfterMS: 5000})
}

func storeUnavailable() *Response {
	return answerWith(http.StatusServiceUnavailable, errorBody{Error: "idempotency_store_unavailable", RetryAfterMS: 1000})
}

func unavailable(code string) *Response {
	return answerWith(http.StatusServiceUnavailable, errorBody{Error: code, RetryAfterMS: 1000})
}

func (r *Response) write(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range r.Header {
		h[name] = values
	}
	if len(r.Body) > 0 {
		h.Set("Content-Type", "application/json")
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body) // a client that is gone reads its answer from the record next time
}
