package idempotency

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	// maxClaims bounds how often a request claims again because the record it lost to is gone (contract section 6.3).
	maxClaims = 4
	// failTime bounds the marking of a failed record, which is best effort: what stays in flight goes stale.
	failTime = time.Second
)

// admit sends the request past the key, if it has one that counts.
func (e *endpoint) admit(req *Request, start time.Time) *Response {
	ctx, cancel := e.detached(req, start.Add(e.opts.RequestDeadline+e.opts.ActionAllowance))
	defer cancel()
	if !e.takesKey(req) {
		return e.execute(ctx, req, nil)
	}
	key, err := e.parts.Matcher.Key(req.HTTP.Header)
	switch {
	case err != nil:
		return malformedKey()
	case key == "":
		return e.execute(ctx, req, nil)
	}
	req.Key = key
	req.Hash = e.parts.Matcher.Hash(req)
	req.Scope = e.parts.Scoper.Scope(req)
	storeCtx, cancelStore := context.WithDeadline(ctx, start.Add(e.storeShare()))
	defer cancelStore()
	return e.settle(ctx, storeCtx, req)
}

func (e *endpoint) takesKey(req *Request) bool {
	if e.route.Tier == NoKeys || (e.route.Tier == ServiceOnly && req.Identity.UserID != nil) {
		return false
	}
	return e.opts.Enabled == nil || e.opts.Enabled()
}

func (e *endpoint) storeShare() time.Duration {
	if e.route.Tier == FailClosed {
		return e.opts.RequestDeadline
	}
	return e.opts.RequestDeadline / 2
}

// settle claims and executes, or answers from the record, or claims again when the record has gone meanwhile.
func (e *endpoint) settle(ctx, storeCtx context.Context, req *Request) *Response {
	for range maxClaims {
		claim, rec, err := e.claim(storeCtx, req)
		held := errors.Is(err, ErrHeld)
		switch {
		case errors.Is(err, ErrScopeGone):
			return answer(http.StatusUnauthorized, "unauthorized")
		case err != nil && !held:
			return e.outage(ctx, req, StoreOutage{Stage: AtClaim, Err: err})
		case claim != nil:
			e.count.miss.Inc()
			return e.execute(ctx, req, claim)
		}
		if rec == nil {
			if rec, err = e.read(storeCtx, req); err != nil {
				return e.outage(ctx, req, StoreOutage{Stage: AtRead, Err: err})
			}
		}
		if held && rec == nil {
			break
		}
		if resp := e.fromRecord(ctx, storeCtx, req, rec); resp != nil {
			return resp
		}
	}
	// Somebody holds the key whose record is not to be seen, or each round lost to one that held it: for the client, one is in flight.
	e.count.hit.Inc()
	e.count.inFlight.Inc()
	return inFlight()
}

// claim is the claimer's, with the record that it may have read on the way.
func (e *endpoint) claim(ctx context.Context, req *Request) (*Claim, *Record, error) {
	if c, reads := e.parts.Claimer.(ReadingClaimer); reads {
		return c.ClaimOrRead(ctx, req, e.parts.Auditor)
	}
	claim, err := e.parts.Claimer.Claim(ctx, req)
	return claim, nil, err
}

// read falls back, where the tier may fail open, to a replay without its audit row.
func (e *endpoint) read(ctx context.Context, req *Request) (*Record, error) {
	rec, err := e.parts.Claimer.Read(ctx, req, e.parts.Auditor)
	if err != nil && e.route.Tier != FailClosed && ctx.Err() == nil {
		e.warn(req, "read without replay audit", err)
		return e.parts.Claimer.Read(ctx, req, nil)
	}
	return rec, err
}

// fromRecord answers a loser, or returns nil when there is nothing to answer from and the request should claim again.
// The hash is looked at before the status (contract section 4).
func (e *endpoint) fromRecord(ctx, storeCtx context.Context, req *Request, rec *Record) *Response {
	switch {
	case rec == nil:
		return nil
	case rec.Expired:
		if err := e.parts.Claimer.Discard(storeCtx, rec); err != nil {
			return e.outage(ctx, req, StoreOutage{Stage: AtRetire, Err: err})
		}
		return nil
	case rec.Hash != req.Hash:
		e.count.hit.Inc()
		e.count.mismatch.Inc()
		return bodyMismatch()
	case rec.Status == Completed:
		return e.again(ctx, storeCtx, req, rec)
	case rec.Status == Failed:
		e.count.hit.Inc()
		e.count.previousFailed.Inc()
		return previousFailed("")
	case rec.Stale:
		return e.retire(ctx, storeCtx, req, rec)
	}
	e.count.hit.Inc()
	e.count.inFlight.Inc()
	return inFlight()
}

// again answers a completed record: by a replay, or, where nothing may be stored, by executing again.
func (e *endpoint) again(ctx, storeCtx context.Context, req *Request, rec *Record) *Response {
	if !e.route.NoReplay {
		e.count.hit.Inc()
		e.count.replay.Inc()
		resp := e.parts.Replayer.Replay(req, rec)
		return &resp
	}
	claim, err := e.parts.Claimer.Reclaim(storeCtx, rec)
	switch {
	case err != nil:
		return e.outage(ctx, req, StoreOutage{Stage: AtClaim, Err: err})
	case claim == nil:
		return nil
	}
	e.count.hit.Inc()
	return e.execute(ctx, req, claim)
}

func (e *endpoint) retire(ctx, storeCtx context.Context, req *Request, rec *Record) *Response {
	retired, err := e.parts.Claimer.Retire(storeCtx, rec)
	switch {
	case err != nil:
		return e.outage(ctx, req, StoreOutage{Stage: AtRetire, Err: err})
	case !retired:
		return nil
	}
	e.count.hit.Inc()
	e.count.stale.Inc()
	e.opts.Log.Warn("stale claim retired", "endpoint", e.route.Endpoint, "op", req.OperationID, "record", rec.ID)
	return previousFailed("stale_in_flight")
}

func (e *endpoint) outage(ctx context.Context, req *Request, o StoreOutage) *Response {
	e.count.storeUnavailable.Inc()
	if e.parts.Outage.Decide(req, o) == Refuse {
		e.warn(req, "store unavailable at "+string(o.Stage)+", refused", o.Err)
		return storeUnavailable()
	}
	e.warn(req, "store unavailable at "+string(o.Stage)+", proceeding without deduplication", o.Err)
	return e.execute(ctx, req, nil)
}
