package drive

import (
	"context"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// twinPause lies between the last byte but one and the last of twins: time for both servers to have read all that comes before a body, and to
// wait for its end, so that their race begins there.
const twinPause = 5 * time.Millisecond

// twin is one of two attempts with the same request.
type twin struct {
	*parcel
	lane *lane
	try  try
	made history.Attempt
	err  error // why it could not begin
}

// attemptTwice makes two attempts of one operation at one instant: the same request on two connections, to two replicas where there are so
// many, and the last byte of both by the same hand. They are attempts n and n+1, and count as two of the policy's. The client goes on by the
// first one's answer, unless only the second one's is final.
func (l *lane) attemptTwice(ctx context.Context, t *try) (history.Attempt, contract.Answer) {
	if l.second == nil {
		l.second = l.d.newLane()
	}
	op := *t.op // a copy: twins live on the heap, and would take every other client's operation there too
	first := &twin{lane: l, try: try{op: &op, n: t.n, intended: t.intended}}
	second := &twin{lane: l.second, try: first.try}
	t.n++
	second.try.n = t.n
	begun := l.d.now()
	first.prepare(ctx, begun)
	second.prepare(ctx, begun)
	if t.ready != nil {
		t.ready()
		<-t.release
		begun = l.d.now()
		first.made.IntendedNS, second.made.IntendedNS = begun, begun
	}
	cause := sendTogether(ctx, begun, first, second)
	done := make(chan contract.Answer)
	go func() { done <- second.finish(ctx, cause) }()
	meaning := first.finish(ctx, cause)
	if other := <-done; other.Final() && !meaning.Final() {
		return second.made, other
	}
	return first.made, meaning
}

// prepare writes the request and connects.
func (w *twin) prepare(ctx context.Context, begun int64) {
	replica := w.lane.replicaOf(w.try.op, w.try.n)
	w.made = history.Attempt{Op: w.try.op.ID, N: w.try.n, Replica: replica + 1, IntendedNS: w.try.intended}
	if w.err = w.lane.d.meter.pass(ctx); w.err == nil {
		w.err = w.lane.prepare(ctx, &w.try, replica, begun)
	}
}

// sendTogether sends both requests, and returns what a passed deadline means for them.
func sendTogether(ctx context.Context, begun int64, both ...*twin) (timeout string) {
	l := both[0].lane
	sent := l.d.now()
	until, timeout := both[0].try.patience(begun, sent)
	for _, w := range both {
		w.made.SentNS = sent
		w.parcel = w.lane.parcelOrError(ctx, &w.made, until, w.err)
		w.send(len(w.rest) - 1)
	}
	l.d.sleep(ctx, sent+int64(twinPause))
	for _, w := range both {
		w.send(1)
	}
	return timeout
}

// parcelOrError is a parcel that sends nothing where there is no connection to send it on.
func (l *lane) parcelOrError(ctx context.Context, a *history.Attempt, until int64, err error) *parcel {
	if err != nil {
		return &parcel{l: l, a: a, rest: l.request, err: err} // its deadline does not matter
	}
	return l.parcel(ctx, a, until)
}

// finish waits for the answer and records the attempt.
func (w *twin) finish(ctx context.Context, timeout string) contract.Answer {
	w.await(ctx, w.try.op.Method, timeout)
	return w.lane.finish(&w.try, &w.made)
}
