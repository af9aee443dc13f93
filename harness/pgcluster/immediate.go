package pgcluster

import (
	"context"
	"fmt"
)

// HaltNow shuts the server down at once, as pg_ctl's immediate mode does: the postmaster ends every session without a checkpoint, and
// Restart goes through crash recovery. It returns when the postmaster is gone.
func (c *Cluster) HaltNow(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if !c.running() {
		return ErrNotRunning
	}
	c.server.signalQuit()
	c.resume() // a stopped process would not see the signal
	select {
	case <-c.server.exited:
		c.guard.ended()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("halt postgres at once: %w", ctx.Err())
	}
}
