package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// bodyLimit is the largest request that is read, in bytes.
const bodyLimit = 1 << 20

// errClosing is the answer to calls that Close overtakes.
var errClosing = errors.New("the provider is closing")

// Handler is the provider without a listener. It is safe for concurrent use.
type Handler struct {
	mux     *http.ServeMux
	ledger  *ledger
	closing chan struct{} // closed by Close, ends all delays

	received atomic.Int64 // charges asked for

	mu      sync.Mutex
	conduct *conduct
	keys    map[string]*claim
	calls   sync.WaitGroup
	closed  bool
}

// claim is what the provider knows of a key: the request, and the charge once made.
type claim struct {
	request chargeRequest
	charge  *Charge // nil while the first call is under way
}

// chargeRequest is the body of POST /v1/charges.
type chargeRequest struct {
	AmountCents int64  `json:"amount_cents"`
	Plan        string `json:"plan"`
	UserID      int64  `json:"user_id"`
	// OperationID labels the call for whoever reads the ledger. Retries of one
	// payment carry labels of their own, so it is no part of what a key stands for.
	OperationID string `json:"operation_id"`
}

func (r chargeRequest) sameAs(other chargeRequest) bool {
	r.OperationID, other.OperationID = "", ""
	return r == other
}

// NewHandler opens the ledger in dir and makes its keys known again.
func NewHandler(dir string, behaviour Behaviour) (*Handler, error) {
	if err := behaviour.validate(); err != nil {
		return nil, fmt.Errorf("behaviour of the payment provider: %w", err)
	}
	book, charges, err := openLedger(dir)
	if err != nil {
		return nil, err
	}
	h := &Handler{
		mux: http.NewServeMux(), ledger: book, closing: make(chan struct{}),
		conduct: newConduct(behaviour), keys: map[string]*claim{},
	}
	for _, charge := range charges {
		h.remember(charge)
	}
	h.mux.HandleFunc("POST /v1/charges", h.postCharge)
	h.mux.HandleFunc("GET /v1/charges", h.getCharges)
	h.mux.HandleFunc("PUT /v1/behaviour", h.putBehaviour)
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	return h, nil
}

// ServeHTTP answers one call of the protocol.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Calls is how many charges have been asked for so far, whatever came of them.
func (h *Handler) Calls() int64 { return h.received.Load() }

// Ledger returns all charges, oldest first, as they are on disk.
func (h *Handler) Ledger() ([]Charge, error) { return h.ledger.onDisk() }

// SetBehaviour changes the behaviour from the next call on.
func (h *Handler) SetBehaviour(behaviour Behaviour) error {
	if err := behaviour.validate(); err != nil {
		return fmt.Errorf("behaviour of the payment provider: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conduct = newConduct(behaviour)
	return nil
}

// Close ends delays, waits for calls under way and closes the ledger. It may be
// called again; later calls are answered with 503.
func (h *Handler) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	close(h.closing)
	h.mu.Unlock()
	h.calls.Wait()
	if err := h.ledger.close(); err != nil {
		return fmt.Errorf("close the ledger: %w", err)
	}
	return nil
}

func (h *Handler) postCharge(w http.ResponseWriter, r *http.Request) {
	h.received.Add(1)
	var request chargeRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit)).Decode(&request); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("the body is not a charge: %w", err))
		return
	}
	if request.AmountCents <= 0 {
		refuse(w, http.StatusBadRequest, errors.New("amount_cents must be positive"))
		return
	}
	key := r.Header.Get("Idempotency-Key")
	turn, refusal := h.admit(key, request)
	if refusal != nil {
		refuse(w, refusal.code, refusal)
		return
	}
	defer h.calls.Done()
	h.charge(w, turn)
}

func (h *Handler) getCharges(w http.ResponseWriter, _ *http.Request) {
	charges, err := h.Ledger()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return
	}
	if charges == nil {
		charges = []Charge{} // an empty list, not null
	}
	answer(w, http.StatusOK, charges)
}

func (h *Handler) putBehaviour(w http.ResponseWriter, r *http.Request) {
	var behaviour Behaviour
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit))
	decoder.DisallowUnknownFields() // a misspelt fault would pass for a fault survived
	err := decoder.Decode(&behaviour)
	if err == nil {
		err = h.SetBehaviour(behaviour)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	answer(w, http.StatusOK, behaviour)
}

func refuse(w http.ResponseWriter, code int, reason error) {
	answer(w, code, map[string]string{"error": reason.Error()})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // fails only when the client is gone
}

// now is the time that a charge bears, without what JSON would not keep.
func now() time.Time { return time.Now().UTC().Round(0) }
