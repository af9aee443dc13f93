// Package history is the vocabulary of facts: what was planned, what was sent, what came back, when faults struck, and the
// rows read afterwards; with the file forms that carry them from one stage to the next.
//
// Conventions. All times of a run are nanoseconds since the run's one zero, on the driver's monotonic clock. An interval
// [Sent, Done] is closed: the request may have taken effect at any moment of it. There is no "ok" here: whether an answer
// means success is a judgement, and harness/check makes it.
package history

import "time"

// Operation is one thing that a client wants done: fixed by the plan before the first request is sent. It may take several
// attempts; all of them carry the same key, path and body.
type Operation struct {
	ID     int64  `json:"id"` // from 1, unique in the run; every later fact refers to it
	Phase  string `json:"phase"`
	Client int    `json:"client"`          // the client that performs it, from 0; operations of a client are sequential in a closed loop
	DueNS  int64  `json:"due_ns"`          // open loop: intended send time since the phase began; 0 in a closed loop
	Group  int64  `json:"group,omitempty"` // operations of one non-zero group are released at one instant
	After  int64  `json:"after,omitempty"` // an operation that must have settled before this one is sent

	Route       string   `json:"route"` // route id of the contract
	User        int64    `json:"user"`  // whose credentials are sent; 0 sends none, ServiceUser a service token
	Method      string   `json:"method"`
	Path        string   `json:"path"`
	Keys        []string `json:"keys,omitempty"` // Idempotency-Key header lines as sent; none, one, or (malformed) several
	Key         string   `json:"key,omitempty"`  // the canonical key these lines mean; "" when absent or malformed
	Request     string   `json:"request"`        // identity of what is asked: equal Key and Request mean the same request, whatever its spelling
	Spelling    string   `json:"spelling,omitempty"`
	ContentType string   `json:"content_type,omitempty"`
	Body        []byte   `json:"body,omitempty"`    // base64 in the file, since bodies need not be text
	Replica     int      `json:"replica,omitempty"` // from 1; 0 takes the next in turn

	DeadlineNS int64  `json:"deadline_ns"`          // bound on one attempt; when it passes the outcome is unknown
	GiveUpNS   int64  `json:"give_up_ns,omitempty"` // the client hangs up its first attempt after this long
	CutBody    int64  `json:"cut_body,omitempty"`   // the first attempt lacks the last so many bytes of its body: the client closes its connection there
	SlowNS     int64  `json:"slow_ns,omitempty"`    // the first attempt's body is sent in pieces, over this long
	Twin       bool   `json:"twin,omitempty"`       // the first attempt is made through two connections, whose last bytes are sent at one instant
	Retry      string `json:"retry,omitempty"`      // name of the retry policy in the plan's spec; "" never retries
	Once       bool   `json:"once,omitempty"`       // nobody asks for its final answer afterwards: the one that it gets is what is looked at
	Token      string `json:"token,omitempty"`      // planted in the body, for evidence that does not know keys
}

// ServiceUser as Operation.User sends the service token: a caller without a user.
const ServiceUser int64 = -1

// Deadline is the bound on one attempt.
func (o Operation) Deadline() time.Duration { return time.Duration(o.DeadlineNS) }
