package fault

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/idemstorm/idemstorm/harness/subject"
)

// replicaClock is about the servers' own clocks; the database's is right. It leaves every path alone, so that nothing is excused by it. A server
// that is started again meanwhile has the right time.
var replicaClock = Kind{
	Name:  "replica-clock",
	Story: "the clock of a server is wrong, ahead or behind, until the fault ends",
	Sees:  "nothing",
	Holds: "the database's clock decides what is stale and what has expired: no live claim is retired, no key runs again",
	On:    []Target{Clocks},
	Strike: func(s Spec, w World) (Strike, error) {
		if w.AdminToken == "" {
			return nil, errors.New("replica-clock: this server has no admin route")
		}
		s.On = Replica
		struck, err := struckReplicas(s, w)
		w.Replicas = struck
		return &clockStrike{by: s.By.String(), world: w}, err
	},
	Check: func(s Spec) error {
		if s.By == 0 {
			return errors.New("by: replica-clock needs how far the clock is ahead, or, below 0, behind")
		}
		return nil
	},
}

type clockStrike struct {
	by    string
	world World
	set   int64
}

// Inject implements Strike.
func (s *clockStrike) Inject(ctx context.Context) error { return s.offset(ctx, s.by) }

// Heal implements Strike.
func (s *clockStrike) Heal(ctx context.Context) error { return s.offset(ctx, "0s") }

// Felt implements Strike: how often a clock was set.
func (s *clockStrike) Felt() int64 { return s.set }

func (s *clockStrike) offset(ctx context.Context, by string) error {
	ctx, cancel := context.WithTimeout(ctx, clockWithin)
	defer cancel()
	for _, r := range s.world.Replicas {
		if err := s.setOne(ctx, r, by); err != nil {
			return err
		}
		s.set++
	}
	return nil
}

const (
	clockWithin = 25 * time.Second
	clockEvery  = 20 * time.Millisecond
)

// setOne waits for a server that is just being started again: another fault may have struck it.
func (s *clockStrike) setOne(ctx context.Context, r *subject.Replica, by string) error {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	for {
		err := putAdmin(ctx, r, s.world.AdminToken, "clock", map[string]string{"offset": by})
		var unreached *url.Error
		if err == nil || !errors.As(err, &unreached) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}
