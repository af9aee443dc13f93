package drive

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/history"
)

// pieces is how many parts a slow body is sent in, if it has so many bytes.
const pieces = 8

// rude says whether an attempt is sent by hand, as its operation's manners want it: the first one is, and what follows is sent in order.
func (t *try) rude() bool { return t.n == 1 && (t.op.CutBody > 0 || t.op.SlowNS > 0) }

// misbehave sends the attempt by its operation's manners, and returns it with what happened. It takes a copy, since a parcel's attempt outlives
// the call on the heap, which attempts in order are spared.
func (l *lane) misbehave(ctx context.Context, t *try, a history.Attempt, until int64, timeout string) history.Attempt {
	p := l.parcel(ctx, &a, until)
	if t.op.CutBody > 0 {
		p.cut(ctx, int(t.op.CutBody))
		return a
	}
	p.trickle(ctx, len(t.op.Body), t.op.SlowNS)
	p.await(ctx, t.op.Method, timeout)
	return a
}

// cut sends all but the last missing bytes and closes the connection. Nobody waits for an answer.
func (p *parcel) cut(ctx context.Context, missing int) {
	p.send(len(p.rest) - missing)
	p.l.drop(p.a.Replica - 1)
	switch {
	case p.err == nil:
		p.ended(history.Cut, history.CauseGaveUp)
	case p.sent == 0:
		p.ended(history.Unsent, causeOf(ctx, p.err, history.CauseTimeout))
	default:
		p.ended(history.Cut, causeOf(ctx, p.err, history.CauseTimeout))
	}
}

// trickle sends the header at once and the body in equal pieces, the last of them after the given time.
func (p *parcel) trickle(ctx context.Context, body int, over int64) {
	begun := p.l.d.now()
	p.send(len(p.rest) - body)
	parts := max(1, min(pieces, body))
	for i := 1; i <= parts && p.err == nil; i++ {
		p.l.d.sleep(ctx, begun+over*int64(i)/int64(parts))
		p.send(body*i/parts - body*(i-1)/parts)
	}
}
