package pgwire

import (
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// exchange is one step on its way: what was forwarded, what the database owes
// for it, and what it has said so far. Between forwarding and done it belongs
// to the goroutine that reads the database, its atomic fields apart.
type exchange struct {
	step       *Step // nil for the startup, and for what the controller need not know
	controller Controller
	ops        []op
	next       int // the first of ops that is not answered yet

	// ready says that ReadyForQuery ends the answer; otherwise the last op does.
	ready atomic.Bool
	// copyIn says that the database waits for COPY data.
	copyIn   atomic.Bool
	extended bool
	// owesSync says that COPY data was asked for in the extended protocol: the database ignores the Sync before the data, so that
	// whatever it answers to the data, only the client's next Sync brings ReadyForQuery.
	owesSync atomic.Bool

	withhold bool   // no part of the answer goes to the client
	mute     bool   // cut in flight: the answer does not matter any more
	instead  []byte // goes to the client in place of the withheld answer, before ReadyForQuery
	swallow  bool   // ReadyForQuery is withheld as well
	outcome  Outcome
	complete bool // the answer is; done follows when the client has been sent it
	done     chan struct{}
	told     atomic.Bool
}

func newExchange(step *Step, controller Controller) *exchange {
	return &exchange{step: step, controller: controller, done: make(chan struct{})}
}

// tell reports the outcome, once.
func (e *exchange) tell() {
	if e.step != nil && e.controller != nil && e.told.CompareAndSwap(false, true) {
		e.controller.Ended(e.step, e.outcome)
	}
}

// hear takes in one message of the database and returns true when it completes
// the answer. body is nil for messages too large to be kept.
func (e *exchange) hear(kind byte, body []byte) bool {
	if e.complete {
		return false
	}
	switch kind {
	case '1', '2', '3', 'T', 'n', 'I', 's':
		e.answered(kind)
	case 'C':
		e.tag(body)
		e.answered(kind)
	case 'G':
		e.copyIn.Store(true)
		e.owesSync.Store(e.extended)
		e.complete = e.withhold // a client that never sees it sends no data
		return e.complete
	case 'E':
		e.fail(body)
		e.complete = e.endsWithoutReady()
		return e.complete
	case 'Z':
		if len(body) == 1 {
			e.outcome.TxStatus = body[0]
		}
		e.complete = true
		return true
	}
	e.complete = e.endsWithoutReady() && e.next == len(e.ops)
	return e.complete
}

// endsWithoutReady says that the answer ends with its last message, and not with ReadyForQuery.
func (e *exchange) endsWithoutReady() bool { return !e.ready.Load() && !e.owesSync.Load() }

// answers pairs the messages of the extended protocol with their answers.
// A simple query has no ops: the same answers mean nothing there.
var answers = map[byte]string{
	'P': "1", 'B': "2", 'C': "3", 'D': "Tn", 'E': "CIs",
}

func (e *exchange) answered(kind byte) {
	if e.next < len(e.ops) && strings.IndexByte(answers[e.ops[e.next].kind], kind) >= 0 {
		e.next++
	}
}

func (e *exchange) tag(body []byte) {
	tag := strings.TrimRight(string(body), "\x00")
	e.copyIn.Store(false)
	e.outcome.Tags = append(e.outcome.Tags, tag)
	if _, count, ok := cutLast(tag, ' '); ok {
		if n, err := strconv.ParseInt(count, 10, 64); err == nil {
			e.outcome.Rows += n
		}
	}
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func (e *exchange) fail(body []byte) {
	e.copyIn.Store(false)
	var m pgproto3.ErrorResponse
	if e.outcome.Code != "" || m.Decode(body) != nil {
		return
	}
	e.outcome.Code, e.outcome.Message = m.Code, m.Message
}

// settle takes back what was assumed about ops that the database never came to.
func (e *exchange) settle() {
	for i := len(e.ops) - 1; i >= e.next; i-- {
		if e.ops[i].undo != nil {
			e.ops[i].undo()
		}
	}
}
