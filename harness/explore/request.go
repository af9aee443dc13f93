package explore

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// answerLimit bounds what is read of one answer (bytes).
const answerLimit = 1 << 20

// Request is what an HTTP actor asks for.
type Request struct {
	Method, Path, Body string
	Meaning            string // equal for requests that ask for the same, whatever their spelling
	ContentType        string // default application/json
	// Sign sets all headers instead, where the key travels otherwise than in Idempotency-Key.
	Sign func(h http.Header, c Case)
}

func (r Request) sign(h http.Header, c Case) {
	if r.Sign != nil {
		r.Sign(h, c)
		return
	}
	h.Set("Idempotency-Key", c.Key)
	h.Set("Content-Type", orJSON(r.ContentType))
	if c.Token != "" {
		h.Set("Authorization", "Bearer "+c.Token)
	}
}

// Client sends requests to one replica. It opens a connection for each, so that a server that was killed costs no stale one.
type Client struct {
	URL      func() string // of the replica, which may move
	Replica  int           // from 1
	Contract contract.Contract
	HTTP     *http.Client
}

// NewClient makes a client without a limit of its own: the context bounds it.
func NewClient(url func() string, replica int, c contract.Contract) *Client {
	return &Client{URL: url, Replica: replica, Contract: c, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
}

// Close lets go of the client's idle connections.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Actor makes an actor that sends one request and never again.
func (c *Client) Actor(name, class string, r Request) Actor {
	return Actor{Name: name, Class: class, Act: func(ctx context.Context, cs Case) Play {
		a := c.Send(ctx, cs, r)
		return c.Play(a)
	}}
}

// Send makes one attempt. A lost answer is no error: it has status 0.
func (c *Client) Send(ctx context.Context, cs Case, r Request) (a Attempt) {
	a = Attempt{Method: r.Method, Path: r.Path, Body: r.Body, Request: r.Meaning, Key: cs.Key, Replica: c.Replica}
	a.SentNS = int64(time.Since(cs.Began))
	defer func() { a.DoneNS = int64(time.Since(cs.Began)) }()
	req, err := http.NewRequestWithContext(ctx, r.Method, c.URL()+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return a
	}
	req.GetBody = nil // the transport must not send twice what was asked once
	r.sign(req.Header, cs)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return a
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return a
	}
	a.Status, a.Answer, a.Marked = resp.StatusCode, body, c.Contract.Marked(resp.Header.Get)
	return a
}

func orJSON(contentType string) string {
	if contentType == "" {
		return "application/json"
	}
	return contentType
}

// Lost is the class of an answer that never came.
const Lost = "lost"

// patientPause is how long the patient client waits between two attempts.
const patientPause = 20 * time.Millisecond

// Settle sends a request again and again until its key's fate is decided, as a client does that must know. It gives up after give, though not
// in the middle of an attempt: what that was answered is no matter of luck.
func (c *Client) Settle(ctx context.Context, cs Case, r Request, give time.Duration) (attempts []Attempt) {
	enough := time.NewTimer(give)
	defer enough.Stop()
	ctx, cancel := context.WithTimeout(ctx, 2*give) // should a server never answer
	defer cancel()
	ticker := time.NewTicker(patientPause)
	defer ticker.Stop()
	for {
		a := c.Send(ctx, cs, r)
		a.Settle = true
		attempts = append(attempts, a)
		if contract.Answer(c.Class(a)).Final() {
			return attempts
		}
		select {
		case <-enough.C:
			return attempts
		case <-ctx.Done():
			return attempts
		case <-ticker.C:
		}
	}
}

// Final tells whether an attempt decided its key's fate.
func (c *Client) Final(a Attempt) bool { return contract.Answer(c.Class(a)).Final() }

// Play is an actor's part that consists of one attempt.
func (c *Client) Play(a Attempt) Play {
	return Play{Answer: schedule.Answer{Status: a.Status, Class: c.Class(a), Body: string(a.Answer)}, Sent: []Attempt{a}}
}

// Class names an attempt's answer by the contract, or Lost.
func (c *Client) Class(a Attempt) string {
	if a.Status == 0 {
		return Lost
	}
	class := c.Contract.Classify(a.Status, a.Marked, a.Answer)
	if class == contract.AnswerUnknown {
		return "unknown"
	}
	return string(class)
}
