package drive

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
)

// lane sends one request at a time, on a connection of its own to each replica. It is not safe for concurrent use.
type lane struct {
	d       *driver
	conns   []*conn // by replica, from 0; nil where none is open
	history *history.Recorder
	latency *latency.Recorder
	groups  map[[2]string]string // latency groups by route and answer
	request []byte
	second  *lane // of the client's other connection, for twins; made when there are any
}

func (d *driver) newLane() *lane {
	return &lane{
		d: d, conns: make([]*conn, len(d.servers)), history: d.Writer.Recorder(), latency: d.latency.Recorder(),
		groups: map[[2]string]string{},
	}
}

func (l *lane) close() {
	for i := range l.conns {
		l.drop(i)
	}
	l.latency.Flush()
	if l.second != nil {
		l.second.close()
	}
}

func (l *lane) drop(replica int) {
	if c := l.conns[replica]; c != nil {
		l.d.conns.close(c)
		l.conns[replica] = nil
	}
}

// replicaOf is the place of the replica that attempt n of o goes to: the one that it names, else the next in turn, a retry to another one.
func (l *lane) replicaOf(o *history.Operation, n int) int {
	if o.Replica > 0 {
		return (o.Replica - 1) % len(l.conns)
	}
	return int((o.ID + int64(n)) % int64(len(l.conns)))
}

// try is one attempt before it is made.
type try struct {
	op       *history.Operation
	n        int
	intended int64
	settle   bool
	release  <-chan struct{}  // in a group: when to send
	ready    func()           // in a group: called when everything up to sending is done
	late     []latency.Series // in an open loop: the series of its lateness; it is prepared before it is due, and sent then
	taken    int64            // and when its client took it up
}

// attempt makes one attempt and records it. It returns the attempt and its answer by the contract, which is unknown when there is none. The
// attempt's body is valid until the next one.
func (l *lane) attempt(ctx context.Context, t try) (history.Attempt, contract.Answer) {
	replica := l.replicaOf(t.op, t.n)
	a := history.Attempt{Op: t.op.ID, N: t.n, Replica: replica + 1, IntendedNS: t.intended, Settle: t.settle}
	l.exchange(ctx, &t, &a)
	meaning := l.finish(&t, &a)
	return a, meaning
}

// finish records an attempt that has ended, and says what its answer means.
func (l *lane) finish(t *try, a *history.Attempt) contract.Answer {
	a.DoneNS = l.d.now()
	meaning := contract.AnswerUnknown
	if a.Outcome == history.Returned {
		meaning = l.d.Contract.Classify(a.Status, a.Marked, a.Body)
	}
	l.history.Attempt(a)
	l.measure(t, a, meaning)
	return meaning
}

// exchange sends and receives, and fills in what happened.
func (l *lane) exchange(ctx context.Context, t *try, a *history.Attempt) {
	replica := a.Replica - 1
	err := l.d.meter.pass(ctx)
	begun := l.d.now()
	if err == nil {
		err = l.prepare(ctx, t, replica, begun)
	}
	if t.ready != nil {
		t.ready()
		<-t.release
		begun = l.d.now()
		a.IntendedNS = begun
	}
	if t.late != nil {
		l.punctual(t)
		begun = max(begun, t.intended)
	}
	a.SentNS = l.d.now()
	until, cause := t.patience(begun, a.SentNS)
	if err == nil && t.rude() {
		*a = l.misbehave(ctx, t, *a, until, cause)
		return
	}
	if err == nil {
		err = l.send(ctx, replica, l.at(until))
	}
	if err != nil {
		a.Outcome, a.Cause = history.Unsent, causeOf(ctx, err, history.CauseTimeout)
		return
	}
	got, err := l.receive(ctx, replica, t.op.Method)
	if err != nil {
		a.Outcome, a.Cause = history.Lost, causeOf(ctx, err, cause)
		return
	}
	a.Outcome = history.Returned
	got.record(a)
}

// prepare writes the request and makes sure that there is a connection for it.
func (l *lane) prepare(ctx context.Context, t *try, replica int, begun int64) (err error) {
	l.request, err = l.d.servers[replica].appendRequest(l.request[:0], t.op, l.d.Credentials(t.op.User), l.d.Headers(t.op.User))
	if err != nil {
		return err
	}
	return l.connect(ctx, replica, l.at(begun+t.op.DeadlineNS))
}

// at is a moment of the run on the clock that deadlines use.
func (l *lane) at(ns int64) time.Time { return l.d.Zero.Add(time.Duration(ns)) }

// patience is until when the client waits for this attempt, and what it means when that has passed. The deadline runs from the beginning,
// connecting included; a client that means to hang up early counts from the sending, so that it hangs up on a request that was sent.
func (t *try) patience(begun, sent int64) (until int64, cause string) {
	deadline := begun + t.op.DeadlineNS
	if g := t.op.GiveUpNS; g > 0 && t.n == 1 && sent+g < deadline {
		return sent + g, history.CauseGaveUp
	}
	return deadline, history.CauseTimeout
}

// connect makes sure that there is a connection to the replica that looks usable.
func (l *lane) connect(ctx context.Context, replica int, deadline time.Time) error {
	if c := l.conns[replica]; c != nil {
		if c.usable() {
			return nil
		}
		l.drop(replica)
	}
	c, err := l.d.servers[replica].dial(ctx, deadline)
	if err != nil {
		return err
	}
	l.conns[replica] = c
	l.d.conns.add(c)
	return nil
}

// send hands the request to the network. An error means that certainly nothing was sent. What was sent in part counts as sent: the connection
// is broken then, and receive will say so.
func (l *lane) send(ctx context.Context, replica int, deadline time.Time) error {
	if err := l.arm(ctx, replica, deadline); err != nil {
		return err
	}
	c := l.conns[replica]
	n, err := c.net.Write(l.request)
	if err != nil && n == 0 && c.plain {
		l.drop(replica)
		return err
	}
	return nil
}

// arm sets the moment when the connection gives up. After an error the connection is gone.
func (l *lane) arm(ctx context.Context, replica int, deadline time.Time) error {
	if err := l.conns[replica].net.SetDeadline(deadline); err != nil {
		l.drop(replica)
		return err
	}
	if err := ctx.Err(); err != nil { // after the deadline is set: an interrupt before that would have been overwritten
		l.drop(replica)
		return err
	}
	return nil
}

// receive reads the answer. After an error the connection is gone.
func (l *lane) receive(ctx context.Context, replica int, method string) (answer, error) {
	c := l.conns[replica]
	got, err := c.reader.read(method, l.d.Contract.Marked)
	if err != nil || got.closes {
		l.drop(replica)
	}
	c.idle = time.Now()
	return got, err
}

// causeOf names why an attempt failed; timeout is what a passed deadline means.
func causeOf(ctx context.Context, err error, timeout string) string {
	var op *net.OpError
	switch {
	case ctx.Err() != nil:
		return history.CauseInterrupted
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return timeout
	case errors.As(err, &op) && op.Op == "dial":
		return dialCause(op)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed):
		return history.CauseReset
	}
	return history.CauseOther
}

func dialCause(err *net.OpError) string {
	if err.Timeout() {
		return history.CauseTimeout
	}
	return history.CauseRefused
}

// measure records times. The patient client's are not those of the workload. Attempts without an answer have a group of their own: their times
// are only how long the client waited.
func (l *lane) measure(t *try, a *history.Attempt, meaning contract.Answer) {
	switch {
	case t.settle || a.Outcome == history.Unsent || a.Outcome == history.Cut:
		return
	case a.Outcome == history.Lost:
		l.times("lost", a)
	default:
		l.times(latency.All, a)
		l.times(l.group(t.op.Route, string(meaning)), a)
	}
}

func (l *lane) times(group string, a *history.Attempt) {
	l.latency.Record(latency.Series{Group: group, Kind: latency.Response}, time.Duration(a.DoneNS-a.IntendedNS))
	l.latency.Record(latency.Series{Group: group, Kind: latency.Service}, time.Duration(a.DoneNS-max(a.SentNS, a.LastByteNS)))
}

func (l *lane) group(route, answer string) string {
	g, ok := l.groups[[2]string{route, answer}]
	if !ok {
		g = strings.TrimSpace(route + " " + answer)
		l.groups[[2]string{route, answer}] = g
	}
	return g
}

// retryAfter reads the header's seconds; its other form, a date, is left out on purpose: the run's clock is not the server's.
func retryAfter(a *history.Attempt) time.Duration {
	s, err := strconv.ParseUint(a.RetryAfter, 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(s) * time.Second
}
