package plan

import (
	"math/rand/v2"
	"time"
)

// Wait is the time between the end of attempt n (from 1) of an operation and the next attempt. It is a pure function of its arguments, so that
// a seed fixes the jitter. retryAfter is what the server asked for, 0 if nothing; it only ever lengthens the wait, up to Cap.
func (r Retry) Wait(seed uint64, op int64, n int, retryAfter time.Duration) time.Duration {
	wait := r.Base.Std()
	if r.Backoff == Exponential {
		ceiling := r.bound(wait << min(n-1, 20))
		rnd := rand.New(rand.NewPCG(seed, uint64(op)<<16|uint64(n)))
		wait = time.Duration(rnd.Float64() * float64(ceiling))
	}
	if r.RetryAfter {
		wait = max(wait, retryAfter)
	}
	return r.bound(wait)
}

// bound applies Cap; without one an hour bounds any wait.
func (r Retry) bound(d time.Duration) time.Duration {
	limit := r.Cap.Std()
	if limit == 0 {
		limit = time.Hour
	}
	if d < 0 || d > limit { // a shift may have overflowed
		return limit
	}
	return d
}
