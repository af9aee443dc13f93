package zoo

import (
	"errors"
	"io"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var cutBodyTakenForWhole = Variant{
	Name:  "cut-body-taken-for-whole",
	Class: "request cut short is executed",
	Story: "Reading the body gives what has come and an error, and the error is dropped: what is wrong with a body, its parser will " +
		"say. A client that broke off in the middle has then ordered whatever its first half happens to mean.",
	Seen: "membrane/api-gateway#3195: a body that ended before its announced length was filled up with zeros and passed on as " +
		"whole",
	Invariant: "malformed-rejected",
	Scenario:  "rude-clients",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Body = carelessReader{p.Body}
		return p
	},
}

// carelessReader is content with what has come.
type carelessReader struct{ idempotency.BodyReader }

// ReadBody implements idempotency.BodyReader.
func (c carelessReader) ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := c.BodyReader.ReadBody(w, r)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return body, err
}
