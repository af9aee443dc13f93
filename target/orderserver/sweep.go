package orderserver

import (
	"context"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

const (
	// SweepBatch is how many expired records one statement removes: a millisecond's work, and some pages of log for whoever commits meanwhile to
	// wait for.
	SweepBatch = 100
	// sweepHour is when the nightly cleanup runs, UTC (contract section 7).
	sweepHour = 4
)

// sweep removes expired records nightly, and at the configured interval. Replicas may sweep at once: they skip what the
// others hold.
func (s *Server) sweep(ctx context.Context) {
	for {
		wait := untilNight(s.parts.Clock.Now())
		if s.cfg.CleanupEvery > 0 {
			wait = min(wait, s.cfg.CleanupEvery)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		n, err := idempotency.SweepAll(ctx, s.parts.Sweeper, s.store, SweepBatch)
		switch {
		case err != nil && ctx.Err() == nil:
			s.cfg.Log.Warn("cleanup failed", "removed", n, "err", err)
		case n > 0:
			s.cfg.Log.Info("cleanup done", "removed", n)
		}
	}
}

// untilNight is the time from now to the next sweepHour.
func untilNight(now time.Time) time.Duration {
	now = now.UTC()
	next := time.Date(now.Year(), now.Month(), now.Day(), sweepHour, 0, 0, 0, time.UTC)
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next.Sub(now)
}
