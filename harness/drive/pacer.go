package drive

import (
	"context"
	"runtime"
	"time"
)

// The pacer's own thread sleeps until shortly before an operation is due and spins from there: the runtime's timers wake half a millisecond late.
const (
	spin     = 80 * time.Microsecond
	longest  = 20 * time.Millisecond // one sleep: how soon an end of the phase is noticed
	lookUpAt = 64                    // turns of the spin between looks at the context
)

type pacer struct{ d *driver }

func newPacer(d *driver) *pacer {
	runtime.LockOSThread()
	return &pacer{d: d}
}

func (p *pacer) close() { runtime.UnlockOSThread() }

// until returns true at t nanoseconds since the run's zero, at once if that has passed, and false when ctx has ended.
func (p *pacer) until(ctx context.Context, t int64) bool {
	for {
		left := time.Duration(t - p.d.now())
		if left <= spin {
			break
		}
		sleepThread(min(left-spin, longest))
		if ctx.Err() != nil {
			return false
		}
	}
	for i := 0; p.d.now() < t; i++ {
		if i%lookUpAt == 0 && ctx.Err() != nil {
			return false
		}
	}
	return ctx.Err() == nil
}
