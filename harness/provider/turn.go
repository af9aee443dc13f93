package provider

import (
	"errors"
	"net/http"
	"time"
)

// turn is one admitted call: what it asks for and what was decided about it.
type turn struct {
	key       string // empty when the call is not deduplicated
	forwarded string // the key that the ledger records
	request   chargeRequest
	behaviour Behaviour
	fails     bool
	replay    *Charge // the charge that the key already stands for
}

// refusal is an answer that turns a call away before anything was done.
type refusal struct {
	code   int
	reason string
}

func (r *refusal) Error() string { return r.reason }

// admit decides a call's fate and, with a fresh key, claims it. Every admitted
// call must end with calls.Done.
func (h *Handler) admit(key string, request chargeRequest) (*turn, *refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, &refusal{http.StatusServiceUnavailable, errClosing.Error()}
	}
	t := &turn{key: key, forwarded: key, request: request, behaviour: h.conduct.Behaviour}
	t.fails = h.conduct.next()
	if t.behaviour.NoDedup {
		t.key = ""
	}
	if t.key != "" {
		if refused := h.claim(t); refused != nil {
			return nil, refused
		}
	}
	h.calls.Add(1)
	return t, nil
}

// claim takes a fresh key for the turn, or finds the charge that it stands for.
func (h *Handler) claim(t *turn) *refusal {
	known, found := h.keys[t.key]
	switch {
	case !found:
		h.keys[t.key] = &claim{request: t.request}
	case !known.request.sameAs(t.request):
		return &refusal{http.StatusUnprocessableEntity, "the key was used for another request"}
	case known.charge == nil:
		return &refusal{http.StatusConflict, "a call with this key is under way"}
	default:
		t.replay = known.charge
	}
	return nil
}

// charge carries out an admitted call. A client that hangs up changes nothing: its
// charge is made all the same, as a real provider would.
func (h *Handler) charge(w http.ResponseWriter, t *turn) {
	if !h.wait(t.behaviour.delay()) {
		h.release(t)
		refuse(w, http.StatusServiceUnavailable, errClosing)
		return
	}
	if t.fails && !t.behaviour.FailAfterActing {
		h.release(t)
		refuse(w, http.StatusInternalServerError, errors.New("failed on purpose, before acting"))
		return
	}
	made, err := h.act(t)
	switch {
	case err != nil:
		h.release(t)
		refuse(w, http.StatusInternalServerError, err)
	case t.fails:
		refuse(w, http.StatusInternalServerError, errors.New("failed on purpose, after acting"))
	default:
		if t.replay != nil {
			w.Header().Set("Idempotency-Replayed", "true")
		}
		answer(w, http.StatusCreated, made)
	}
}

// act makes the charge, unless it has been made before.
func (h *Handler) act(t *turn) (Charge, error) {
	if t.replay != nil {
		return *t.replay, nil
	}
	made, err := h.ledger.add(Charge{
		Key: t.forwarded, UserID: t.request.UserID, AmountCents: t.request.AmountCents,
		Plan: t.request.Plan, OperationID: t.request.OperationID, At: now(),
	})
	if err != nil {
		return Charge{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remember(made)
	return made, nil
}

// remember makes a key stand for a charge. The first charge of a key counts, where
// a ledger written with NoDedup has several.
func (h *Handler) remember(charge Charge) {
	if charge.Key == "" {
		return
	}
	if known, found := h.keys[charge.Key]; found && known.charge != nil {
		return
	}
	request := chargeRequest{AmountCents: charge.AmountCents, Plan: charge.Plan, UserID: charge.UserID}
	h.keys[charge.Key] = &claim{request: request, charge: &charge}
}

// release frees the key of a call that has charged nothing.
func (h *Handler) release(t *turn) {
	if t.key == "" || t.replay != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keys[t.key].charge == nil { // a call without dedup may have charged meanwhile
		delete(h.keys, t.key)
	}
}

// wait reports whether the whole delay passed before the provider was closed.
func (h *Handler) wait(delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.closing:
		return false
	}
}
