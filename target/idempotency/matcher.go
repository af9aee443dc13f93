package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"net/url"
	"strings"
)

// ErrMalformedKey says that the header is there, and is not exactly one UUID in its 36-character form.
var ErrMalformedKey = errors.New("malformed idempotency key")

// Matcher says which key a request carries, and what counts as the same request.
type Matcher interface {
	// Key returns the canonical key, "" when there is no header, or ErrMalformedKey.
	Key(h http.Header) (string, error)
	// Hash identifies the request among those under one key (contract section 5).
	Hash(req *Request) string
}

// ContractMatcher takes the 36-character hyphenated form in any case, and hashes method, path, query and body.
type ContractMatcher struct{}

// Key implements Matcher.
func (ContractMatcher) Key(h http.Header) (string, error) {
	values := h.Values(KeyHeader)
	switch {
	case len(values) == 0:
		return "", nil
	case len(values) > 1 || !isUUID(values[0]):
		return "", ErrMalformedKey
	}
	return strings.ToLower(values[0]), nil
}

// isUUID is stricter than uuid.Parse, which takes urn:uuid:, braces and 32 digits too (contract section 4).
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// Hash implements Matcher.
func (ContractMatcher) Hash(req *Request) string {
	sum := sha256.New()
	writePart(sum, []byte(req.HTTP.Method))
	writePart(sum, []byte(req.HTTP.URL.EscapedPath()))
	writePart(sum, []byte(canonicalQuery(req.HTTP.URL.RawQuery)))
	canonical, isJSON := canonicalJSON(req.Body)
	if isJSON {
		writePart(sum, []byte("json"))
		writePart(sum, canonical)
	} else {
		writePart(sum, []byte("raw"))
		writePart(sum, req.Body)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// writePart prefixes the length, so that no two lists of parts have one encoding.
func writePart(h hash.Hash, part []byte) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(part)))
	h.Write(length[:])
	h.Write(part)
}

// canonicalQuery sorts by name and keeps the order of one name's values. A query that cannot be parsed stands for itself.
func canonicalQuery(raw string) string {
	if raw == "" {
		return ""
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return "raw:" + raw
	}
	return values.Encode()
}
