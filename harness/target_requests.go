package harness

import (
	"crypto/rand"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// targetRequests are a target's requests as the plan asks for them.
type targetRequests struct {
	subject.Target
	salt subject.KeyBytes // makes keys that a service which keeps its rows has not seen; zero for one that is started afresh
}

// requestsOf are those of a run. A service that runs already may know every key that this seed has made before.
func requestsOf(t subject.Target, salt subject.KeyBytes) targetRequests {
	if t.Running() && salt == (subject.KeyBytes{}) {
		_, _ = rand.Read(salt[:]) // never fails
	}
	return targetRequests{t, salt}
}

// Key implements plan.Requests.
func (r targetRequests) Key(b [16]byte) string {
	for i := range b {
		b[i] ^= r.salt[i]
	}
	return r.KeyOf(b)
}

// Malformed implements plan.Requests.
func (r targetRequests) Malformed(key string) string { return r.MalformedLine(key) }

// Has implements plan.Requests.
func (r targetRequests) Has(kind plan.Kind) bool { return kind == plan.Usual || r.body(kind) != "" }

// Ask implements plan.Requests.
func (r targetRequests) Ask(kind plan.Kind, key string) plan.Asking {
	a := plan.Asking{Path: r.Generated(r.Request.Path, key), Body: []byte(r.Generated(r.body(kind), key))}
	if strings.Contains(r.Request.Path+r.body(kind), "unique") {
		a.Token = r.Token(key)
	}
	return a
}

func (r targetRequests) body(kind plan.Kind) string {
	return map[plan.Kind]string{
		plan.Usual: r.Request.Body, plan.Other: r.OtherBody, plan.Refused: r.RefusedBody, plan.Failing: r.FailingBody, plan.Slow: r.SlowBody,
	}[kind]
}

// headers are a user's header lines, by the user's number from 1.
func headerLines(t subject.Target) func(user int64) string {
	var lines []string
	for n := range t.Accounts() {
		var b strings.Builder
		headers := t.Headers(n)
		for _, name := range slices.Sorted(keysOf(headers)) {
			b.WriteString(name + ": " + headers[name] + "\r\n")
		}
		lines = append(lines, b.String())
	}
	return func(user int64) string {
		if user < 1 || user > int64(len(lines)) {
			return ""
		}
		return lines[user-1]
	}
}
