package idempotency

import (
	"context"
	"errors"
	"net/http"
)

// execute runs the action under the claim, nil for none, and marks the claim failed if nothing came of it.
func (e *endpoint) execute(ctx context.Context, req *Request, claim *Claim) *Response {
	attempt := &Attempt{Request: req, Claim: claim, Completer: e.parts.Completer, Auditor: e.parts.Auditor}
	if claim != nil {
		if claim.Completer != nil {
			attempt.Completer = claim.Completer
		}
		if claim.Release != nil {
			defer claim.Release()
		}
	}
	resp, err := e.parts.Executor.Execute(ctx, attempt)
	if err == nil {
		return &resp
	}
	failed := e.failure(req, err)
	if claim != nil && !errors.Is(err, ErrFenced) {
		e.markFailed(attempt, failed)
	}
	return failed
}

// failure says what the client is told about an action that did not commit, or may not have.
func (e *endpoint) failure(req *Request, err error) *Response {
	var (
		refusal *Refusal
		refused *failedAnswer
		crashed *panicked
	)
	switch {
	case errors.As(err, &refusal):
		resp := refusal.Response()
		return &resp
	case errors.As(err, &refused):
		return &refused.resp
	case errors.As(err, &crashed):
		e.opts.Log.Error("action panicked", "endpoint", e.route.Endpoint, "op", req.OperationID, "err", err)
		return answer(http.StatusInternalServerError, "internal_error")
	}
	e.warn(req, "action failed", err)
	switch {
	case errors.Is(err, ErrFenced):
		return unavailable("idempotency_claim_lost")
	case errors.Is(err, ErrOutcomeUnknown):
		return unavailable("outcome_unknown")
	case IsSerializationFailure(err):
		return unavailable("serialization_failure")
	}
	return unavailable("database_unavailable")
}

// markFailed is best effort and conditional: a record that a lost acknowledgement left completed stays so.
func (e *endpoint) markFailed(a *Attempt, resp *Response) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.Request.HTTP.Context()), failTime)
	defer cancel()
	if err := a.Completer.Fail(ctx, a.Claim, resp); err != nil {
		e.warn(a.Request, "record left in flight", err)
	}
}
