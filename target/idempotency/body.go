package idempotency

import (
	"io"
	"net/http"
)

// BodyReader reads a request's body before anything is decided by it.
type BodyReader interface {
	// ReadBody returns the whole body or an error: a *http.MaxBytesError for one that is longer than MaxBody. What was read up to the
	// error comes with it.
	ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error)
}

// WholeBody accepts a body only when it has come to its announced end.
type WholeBody struct{}

// ReadBody implements BodyReader.
func (WholeBody) ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
}
