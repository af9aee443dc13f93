package subject

import (
	"crypto/rand"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// NewKey makes a key that nobody has used.
func (t Target) NewKey() string {
	if t.Key.Format == KeyOpaque {
		return strings.ToLower(rand.Text()[:24])
	}
	return uuid.NewString()
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
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key)) // never fails
	return fill(text, map[string]string{"unique": t.Token(key), "number": strconv.Itoa(1 + int(sum.Sum32()%1000))})
}

// Sign sets the headers of a request under a key.
func (t Target) Sign(h http.Header, key string) {
	if len(t.Request.Body) > 0 {
		h.Set("Content-Type", "application/json")
	}
	for _, headers := range []map[string]string{t.Request.Headers, t.Auth} {
		for name, value := range headers {
			h.Set(name, value)
		}
	}
	if t.Key.Format == KeyQuoted {
		key = `"` + key + `"`
	}
	h.Set(t.Key.Header, key)
}
