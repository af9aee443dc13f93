package drive

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// perform carries an operation out as its client would: attempt after attempt by its retry policy. ctx ends the run, more ends the sending of
// more. Afterwards the operation counts as ended for those that come after it; with a key and without a final answer it is left to the patient client.
func (l *lane) perform(ctx, more context.Context, t try) {
	defer l.d.ended(t.op.ID)
	policy := l.d.Plan.Retry(t.op.Retry)
	for {
		a, meaning := l.next(ctx, &t)
		if a.Outcome == history.Returned && meaning.Final() {
			return
		}
		if t.n >= policy.Attempts || !wantsRetry(&a, meaning) || over(ctx, more) {
			break
		}
		wait := policy.Wait(l.d.Plan.Seed(), t.op.ID, t.n, retryAfter(&a))
		next := a.DoneNS + int64(wait)
		l.d.sleep(more, next)
		if over(ctx, more) {
			break
		}
		t = try{op: t.op, n: t.n + 1, intended: next}
	}
	if t.op.Key != "" && !t.op.Once {
		l.d.open.add(*t.op, t.n)
	}
}

// next makes the attempt that is due; of twins it makes both, and t is then the second.
func (l *lane) next(ctx context.Context, t *try) (history.Attempt, contract.Answer) {
	if t.op.Twin && t.n == 1 {
		return l.attemptTwice(ctx, t)
	}
	return l.attempt(ctx, *t)
}

// over reports whether nothing more is to be begun. The run's end reaches the phase's context a moment later than the connections, so both
// are looked at.
func over(ctx, more context.Context) bool { return ctx.Err() != nil || more.Err() != nil }

// wantsRetry says whether a client with retries left asks again: nothing came back, or what came back may change.
func wantsRetry(a *history.Attempt, meaning contract.Answer) bool {
	return a.Outcome != history.Returned || a.Status >= 500 || a.Status == 429 || meaning == contract.AnswerInFlight
}

// ended notes that an operation has been carried out, whatever came of it.
func (d *driver) ended(op int64) {
	d.finished.set(op)
	d.progress.add(1)
}
