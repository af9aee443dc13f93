package harness

import (
	"context"
	"time"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

const (
	connectWithin = 10 * time.Second // bound on the wait for pools that are being filled at the start
	returnWithin  = 10 * time.Second // bound on the wait for what the servers hold to be what it was
	sampleEvery   = 50 * time.Millisecond
)

// before reads what the verdict needs of the time before the first request. What servers hold matters where faults strike.
func (r *rig) before(ctx context.Context, faults bool) (set evidence.Set, err error) {
	if r.target != nil {
		return set, nil // its own accounts and figures are not known
	}
	if set.Opening, err = evidence.ReadAccounts(ctx, r.store.dsn, evidence.Bundled()); err != nil || !faults {
		return set, err
	}
	set.Before, err = r.sample(ctx, connectWithin, (*evidence.Resources).Connected)
	return set, err
}

// after waits until the servers hold no more than before, and gives the last sample, whatever it says. It is nil where there is nothing to
// compare with, and for an interrupted run; and where a server does not answer, which other checks judge.
func (r *rig) after(ctx context.Context, before *evidence.Resources) *evidence.Resources {
	if before == nil {
		return nil
	}
	held, err := r.sample(ctx, returnWithin, func(now *evidence.Resources) bool { return len(check.Exceeded(before, now)) == 0 })
	if err != nil {
		return nil
	}
	return held
}

// sample asks the servers what they hold until it is enough, or the time is over, and gives the last answer; an error if there was none.
func (r *rig) sample(ctx context.Context, within time.Duration, enough func(*evidence.Resources) bool) (last *evidence.Resources, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		held, failed := evidence.ReadResources(ctx, r.urls(), r.store.dsn)
		if failed == nil {
			last = &held
		}
		switch {
		case failed == nil && enough(last), ctx.Err() != nil && last != nil:
			return last, nil
		case ctx.Err() != nil:
			return nil, failed
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
