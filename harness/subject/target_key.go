package subject

import (
	"crypto/rand"
	"encoding/binary"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// KeyBytes are what a key is made of.
type KeyBytes [16]byte

// NewKey makes a key that nobody has used.
func (t Target) NewKey() string {
	var b KeyBytes
	_, _ = rand.Read(b[:]) // never fails
	return t.KeyOf(b)
}

const opaqueAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// KeyOf makes a key in the target's format; equal bytes make equal keys.
func (t Target) KeyOf(b KeyBytes) string {
	switch t.Key.Format {
	case KeyOpaque:
		return opaque(b)
	case KeyUUID7:
		at := firstUUID7.Add(time.Duration(binary.BigEndian.Uint32(b[2:6])) * time.Millisecond)
		binary.BigEndian.PutUint64(b[:8], uint64(at.UnixMilli())<<16|uint64(b[6])<<8|uint64(b[7]))
		b[6] = b[6]&0x0f | 0x70
	default:
		b[6] = b[6]&0x0f | 0x40
	}
	b[8] = b[8]&0x3f | 0x80
	return uuid.UUID(b).String()
}

// firstUUID7 is the earliest time in a version 7 key. It is no clock's, so that a seed makes the same keys again.
var firstUUID7 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// opaque is 24 letters and digits, five bits each; the last few come from the same bytes again, turned round.
func opaque(b KeyBytes) string {
	var out strings.Builder
	for i := range 24 {
		out.WriteByte(opaqueAlphabet[(b[i%16]^b[(i*7+i/16)%16]>>3)&31])
	}
	return out.String()
}

// Line is a key as it is sent.
func (t Target) Line(key string) string {
	if t.Key.Format == KeyQuoted {
		return `"` + key + `"`
	}
	return key
}

// MalformedLine is what is sent in the place of a key and is none: another for every key, unless the file says one without {{unique}}.
func (t Target) MalformedLine(key string) string {
	switch {
	case t.Key.Malformed != "":
		return t.Generated(t.Key.Malformed, key)
	case t.Key.Format == KeyOpaque:
		return t.Token(key) + strings.Repeat("k", 288)
	case t.Key.Format == KeyQuoted:
		return `"unterminated-` + t.Token(key)
	}
	return "not-a-uuid-" + t.Token(key)
}

// Token is what {{unique}} stands for in requests under a key: twelve characters.
func (t Target) Token(key string) string { return key[max(0, len(key)-12):] }

// RowName is what a key's rows are found by.
func (t Target) RowName(key string) string {
	if t.Evidence.By == ByToken {
		return t.Token(key)
	}
	return key
}

// Generated fills in the path or the body of a request under a key.
func (t Target) Generated(text, key string) string {
	return fillBy(text, func(field string) string {
		name, argument, _ := strings.Cut(field, ":")
		switch name {
		case "unique":
			return t.Token(key)
		case "number":
			low, high := 1, 1000
			if argument != "" {
				low, high, _ = span(argument) // Validate has refused another text
			}
			return strconv.Itoa(low + draw(key, argument, high-low+1))
		case "choice":
			words := strings.Split(argument, "|")
			return words[draw(key, argument, len(words))]
		}
		return t.began.Format(time.RFC3339)
	})
}

// draw is a number below n that follows from a key and what is drawn.
func draw(key, what string, n int) int {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key + what)) // never fails
	return int(sum.Sum32() % uint32(n))
}

// ByClock says whether requests have the time of the run in them, so that no seed makes the same ones again.
func (t Target) ByClock() bool {
	for _, body := range []string{t.Request.Path, t.Request.Body, t.OtherBody, t.RefusedBody, t.FailingBody, t.SlowBody} {
		for _, m := range placeholder.FindAllStringSubmatch(body, -1) {
			if m[1] == "timestamp" {
				return true
			}
		}
	}
	return false
}

// Account are the users, at least one. The one of auth has no name.
func (t Target) Accounts() []TargetUser {
	if len(t.Users) == 0 {
		return []TargetUser{{Headers: t.Auth}}
	}
	return t.Users
}

// Headers are those of a user's request, beside the key: a user's own come last.
func (t Target) Headers(user int) map[string]string {
	out := map[string]string{}
	if t.Request.Body != "" {
		out["Content-Type"] = "application/json"
	}
	for _, headers := range []map[string]string{t.Request.Headers, t.Accounts()[user].Headers} {
		for name, value := range headers {
			out[http.CanonicalHeaderKey(name)] = value
		}
	}
	return out
}

// Sign sets the headers of the first user's request under a key.
func (t Target) Sign(h http.Header, key string) {
	for name, value := range t.Headers(0) {
		h.Set(name, value)
	}
	h.Set(t.Key.Header, t.Line(key))
}
