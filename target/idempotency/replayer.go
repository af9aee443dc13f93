package idempotency

import (
	"bytes"
	"net/http"
)

// Replayer turns a completed record into an answer.
type Replayer interface {
	Replay(req *Request, rec *Record) Response
}

// StoredReplayer answers with the stored code and body and the marks of a replay. The marker is put into the stored
// text, not into a decoded value, so that numbers stay as they are. A record whose body was withheld (it looked like it
// held a credential) is answered by its code and the marker alone.
type StoredReplayer struct{}

const marker = `"idempotency_replayed": true`

// Replay implements Replayer.
func (StoredReplayer) Replay(_ *Request, rec *Record) Response {
	return Response{
		Status: rec.Code,
		Header: http.Header{ReplayedHeader: {"true"}},
		Body:   marked(rec.Body),
	}
}

func marked(body []byte) []byte {
	inner, isObject := bytes.CutPrefix(bytes.TrimSpace(body), []byte("{"))
	switch inner = bytes.TrimSpace(inner); {
	case len(body) == 0, isObject && string(inner) == "}":
		return []byte("{" + marker + "}")
	case !isObject:
		return body // an array or a scalar has no place for the marker; the header says it
	}
	return append([]byte("{"+marker+", "), inner...)
}
