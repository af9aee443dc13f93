package drive

import (
	"context"
	"runtime"
	"time"
)

// The runtime's timers wake half a millisecond late, and a client that sleeps is awake some fifty microseconds after it was handed an operation.
// So the pacer's own thread sleeps until shortly before an operation is due and hands it over then; the client prepares its request and spins
// for what is left.
const (
	ahead    = 150 * time.Microsecond // how long before it is due an operation is handed over at the most
	spin     = 80 * time.Microsecond  // how long before it is due sleeping ends in any case: where handing over comes later, the pacer spins
	longest  = 20 * time.Millisecond  // one sleep: how soon an end of the phase is noticed
	lookUpAt = 64                     // turns of the spin between looks at the context
)

type pacer struct {
	d    *driver
	last int64 // when the operation before was due
}

func newPacer(d *driver, start int64) *pacer {
	runtime.LockOSThread()
	sleepExactly(true)
	return &pacer{d: d, last: start}
}

func (p *pacer) close() {
	sleepExactly(false)
	runtime.UnlockOSThread()
}

// until returns true when an operation that is due at t nanoseconds since the run's zero is to be handed over, at once if that has passed, and false
// when ctx has ended.
func (p *pacer) until(ctx context.Context, t int64) bool {
	lead := headStart(time.Duration(t - p.last))
	p.last = t
	for {
		left := time.Duration(t-p.d.now()) - max(lead, spin)
		if left <= 0 {
			break
		}
		sleepThread(min(left, longest))
		if ctx.Err() != nil {
			return false
		}
	}
	for i := 0; p.d.now() < t-int64(lead); i++ {
		if i%lookUpAt == 0 && ctx.Err() != nil {
			return false
		}
	}
	return ctx.Err() == nil
}

// headStart is how long before it is due a client gets an operation, by the time since the one before was due: no more than half of that, so that no
// two clients spin at once.
func headStart(gap time.Duration) time.Duration { return min(ahead, gap/2) }

// spinUntil returns at t nanoseconds since the run's zero, or at once, with the time that it is then. It is for the last stretch of a wait.
func (d *driver) spinUntil(t int64) int64 {
	for {
		if now := d.now(); now >= t {
			return now
		}
	}
}
