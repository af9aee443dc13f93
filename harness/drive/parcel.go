package drive

import (
	"context"
	"os"

	"github.com/idemstorm/idemstorm/harness/history"
)

// parcel is an attempt whose request is handed to the network in pieces. What was sent is counted: as long as something is missing, the
// server has no request.
type parcel struct {
	l     *lane
	a     *history.Attempt
	until int64  // nothing is sent after it
	rest  []byte // of the request: not sent yet
	sent  int    // bytes sent
	err   error  // of the first piece that failed; nothing is sent after it either
}

// parcel prepares the lane's request to be sent by hand until a deadline. Its connection stands.
func (l *lane) parcel(ctx context.Context, a *history.Attempt, until int64) *parcel {
	return &parcel{l: l, a: a, until: until, rest: l.request, err: l.arm(ctx, a.Replica-1, l.at(until))}
}

// send hands over the next n bytes.
func (p *parcel) send(n int) {
	if p.err == nil && p.l.d.now() >= p.until {
		p.err = os.ErrDeadlineExceeded // the connection notices later on a busy machine
	}
	if p.err != nil {
		return
	}
	var sent int
	sent, p.err = p.l.conns[p.a.Replica-1].net.Write(p.rest[:n])
	p.sent += sent
	if p.rest = p.rest[sent:]; len(p.rest) == 0 {
		p.a.LastByteNS = p.l.d.now()
	}
}

// await reads the answer, which may come before everything is sent, and fills in what became of the attempt; timeout is what a passed
// deadline means.
func (p *parcel) await(ctx context.Context, method, timeout string) {
	replica := p.a.Replica - 1
	if p.sent == 0 && p.err != nil {
		p.l.drop(replica)
		p.ended(history.Unsent, causeOf(ctx, p.err, timeout))
		return
	}
	got, err := p.l.receive(ctx, replica, method)
	switch {
	case err == nil && len(p.rest) > 0: // the server would wait for the rest
		p.l.drop(replica)
		fallthrough
	case err == nil:
		got.record(p.a)
		p.ended(history.Returned, "")
	case p.err != nil:
		p.ended(history.Cut, causeOf(ctx, p.err, timeout))
	default:
		p.ended(history.Lost, causeOf(ctx, err, timeout))
	}
}

// ended notes the outcome, and of a request that was not sent whole how much of it was.
func (p *parcel) ended(outcome history.Outcome, cause string) {
	p.a.Outcome, p.a.Cause = outcome, cause
	if len(p.rest) > 0 {
		p.a.BytesSent = p.sent
	}
}
