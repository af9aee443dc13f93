package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// LossMargin is how much longer than its lag a fault may take from the last moment at which every acknowledged commit was safe to its
// strike: it has to catch up, and to hold a process. A strike that took longer proves nothing, and the verdict says so.
const LossMargin = 2 * time.Second

// Notes about a crash that may lose acknowledged commits; the checks read them. The text is the fault's kind.
const (
	noteSafe   = "commits-safe"   // what is acknowledged by now survives the crash that follows
	noteStruck = "commits-struck" // the server is about to be killed
)

// LossWindow says how long before its strike a fault may reach back: an acknowledgement that is older survives it. ok is false for a fault that
// loses nothing, whatever the subject is.
func (s Spec) LossWindow(standby pgcluster.Replication) (window time.Duration, ok bool) {
	switch {
	case s.Kind == crashUnsynced.Name, s.Kind == failover.Name && standby == pgcluster.Asynchronous:
		return s.Lag + LossMargin, true
	}
	return 0, false
}

// checkLag is the Check of kinds with a lag: the rest of the fault's time is the outage.
func checkLag(s Spec) error {
	if s.Lag < 0 || s.Lag >= s.For {
		return fmt.Errorf("lag: %v is not between 0 and the fault's time, %v", s.Lag, s.For)
	}
	return nil
}

// crashStrike kills the database server after commits have piled up that the kill will lose.
type crashStrike struct {
	kind   string
	lag    time.Duration
	world  World
	weaken func(context.Context) error // from here on, commits may be lost
	revive func(context.Context) error // brings a database back after the kill
	relent func(context.Context) error // undoes weaken when there was no kill
	killed bool
}

// Inject implements Strike. Its two notes enclose all that the kill can lose.
func (c *crashStrike) Inject(ctx context.Context) error {
	c.world.Note(noteSafe, c.kind)
	if err := c.weaken(ctx); err != nil {
		return err
	}
	if err := sleep(ctx, c.lag); err != nil {
		return err
	}
	c.world.Note(noteStruck, c.kind)
	err := c.world.Postgres.Kill()
	c.killed = !errors.Is(err, pgcluster.ErrNotRunning)
	return err
}

// Heal implements Strike.
func (c *crashStrike) Heal(ctx context.Context) error {
	if !c.killed {
		return c.relent(ctx)
	}
	return c.revive(ctx)
}

// Felt implements Strike: whether the server was killed.
func (c *crashStrike) Felt() int64 {
	if c.killed {
		return 1
	}
	return 0
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error { return wait(ctx, time.Now(), d) }
