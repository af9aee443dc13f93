package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/evidence"
)

// ErrTargetFile is wrapped by errors about a target file that does not fit the service: nothing that a storm showed would mean anything.
var ErrTargetFile = errors.New("the target file does not fit the service")

const (
	askWithin   = 10 * time.Second // bound on one request that nothing disturbs
	shownWithin = 3 * time.Second  // bound on the wait for an execution to be seen by a source, such as a log
	answerLimit = 1 << 20          // bytes of an answer
	shownAnswer = 160              // bytes of it in a message
)

// asked is one answer of the target.
type asked struct {
	status int
	marked bool
	body   []byte
}

// ask sends one request for a user, by number from 0, under a key; extra lines, if any, replace the key's own.
func (r *rig) ask(ctx context.Context, base string, user int, key, body string) (asked, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	t := r.target
	req, err := http.NewRequestWithContext(ctx, t.Request.Method, base+t.Generated(t.Request.Path, key), strings.NewReader(t.Generated(body, key)))
	if err != nil {
		return asked{}, err
	}
	req.GetBody, req.Close = nil, true // once, and on a connection of its own
	for name, value := range t.Headers(user) {
		req.Header.Set(name, value)
	}
	req.Header.Set(t.Key.Header, t.Line(key))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return asked{}, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	return asked{resp.StatusCode, t.Contract().Marked(resp.Header.Get), answer}, err
}

// String is the answer, short enough for a message.
func (a asked) String() string {
	text := bytes.Join(bytes.Fields(a.body), []byte(" "))
	return strings.TrimSpace(fmt.Sprintf("%d %s", a.status, bytes.ToValidUTF8(text[:min(len(text), shownAnswer)], nil)))
}

// refused says which field to see to when a request under a fresh key did not succeed; "" if it did.
func (a asked) refused() string {
	switch {
	case a.status/100 == 2:
		return ""
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		return fmt.Sprintf("auth: the service refused the user: %s; see to auth, or users[0].headers", a)
	case a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed:
		return fmt.Sprintf("request.path: the service knows no such endpoint: %s; see to request.method and request.path", a)
	case a.status >= http.StatusInternalServerError:
		return fmt.Sprintf("request: the service failed: %s; see its log, and request.body", a)
	}
	return fmt.Sprintf("request.body: the service refused the request: %s; see to request.body, request.headers, key.header and key.format", a)
}

// count asks every source how many executions a key has.
func (r *rig) count(ctx context.Context, key string) (map[string]int, error) {
	own := owners{key: {{key: key, user: 1}}}
	own.add(r.target.Token(key), owner{key: key, user: 1})
	out := map[string]int{}
	for _, name := range r.target.Evidence.Sources() {
		list, err := r.readSource(ctx, name, own)
		switch {
		case errors.Is(err, evidence.ErrQuery):
			return out, fmt.Errorf("%w: %s: evidence.%s: %w", ErrTargetFile, r.target.File(), name, err)
		case err != nil:
			return out, fmt.Errorf("%w: %s: evidence.%s: %w", ErrUnreachable, r.target.File(), name, err)
		}
		out[name] = len(own.attribute(list))
	}
	return out, nil
}

// countShown waits until every source shows an execution of a key, since a log may be late, and gives what they show at last.
func (r *rig) countShown(ctx context.Context, key string) (counts map[string]int, err error) {
	ctx, cancel := context.WithTimeout(ctx, shownWithin)
	defer cancel()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		now, err := r.count(context.WithoutCancel(ctx), key)
		if err != nil {
			return now, err
		}
		counts = now
		if shownByAll(counts) {
			return counts, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return counts, nil
		}
	}
}

func shownByAll(counts map[string]int) bool {
	for _, n := range counts {
		if n == 0 {
			return false
		}
	}
	return true
}

// unshown says which field to see to when a source does not show one execution for one request; "" if each does.
func (r *rig) unshown(counts map[string]int, key string) string {
	for _, name := range r.target.Evidence.Sources() {
		switch n := counts[name]; {
		case n == 0:
			return fmt.Sprintf("evidence.%s: shows nothing for a request that was answered with success, under the key %s and the token %s; see to where it looks, and whether it finds executions by key or by token",
				name, key, r.target.Token(key))
		case n > 1:
			return fmt.Sprintf("evidence.%s: shows %d executions for a single request; it must have one for each execution", name, n)
		}
	}
	return ""
}

// proves sends one request to each process before anything else, and wants it to succeed and to be seen: a file whose request is refused, or whose
// evidence shows nothing, must not end in an accusation, and even less in a pass.
func (r *rig) proves(ctx context.Context) error {
	for _, base := range r.urls() {
		key := r.target.NewKey()
		a, err := r.ask(ctx, base, 0, key, r.target.Request.Body)
		if err != nil {
			return fmt.Errorf("%w: %s: %s does not answer: %w", ErrUnreachable, r.target.File(), base, err)
		}
		if why := a.refused(); why != "" {
			return fmt.Errorf("%w: %s: %s", ErrTargetFile, r.target.File(), why)
		}
		counts, err := r.countShown(ctx, key)
		if err != nil {
			return err
		}
		if why := r.unshown(counts, key); why != "" {
			return fmt.Errorf("%w: %s: %s", ErrTargetFile, r.target.File(), why)
		}
	}
	return nil
}
