package fault

import (
	"context"
	"errors"
	"fmt"

	"github.com/idemstorm/idemstorm/harness/subject"
)

// replicaRestart is a deployment: it has no state to be healed from, so the fault ends when the last server is back, even if its
// time is over earlier.
var replicaRestart = Kind{
	Name:  "replica-restart",
	Story: "server processes are stopped in order (SIGTERM) and started again, one after the other",
	Sees:  "refused connections for moments; requests under way are answered first",
	Holds: "nothing in flight is lost by a stop in order",
	On:    anyReplica,
	Strike: func(s Spec, w World) (Strike, error) {
		replicas, err := struckReplicas(s, w)
		return &rollingStrike{replicas: replicas, done: make(chan struct{})}, err
	},
}

type rollingStrike struct {
	replicas []*subject.Replica
	done     chan struct{} // closed when the round is over, or was never begun
	err      error         // read after done
	rolled   int64
	begun    bool
}

// Inject implements Strike: the round begins.
func (s *rollingStrike) Inject(ctx context.Context) error {
	s.begun = true
	ctx = context.WithoutCancel(ctx) // a server that was stopped is started again, also in an interrupted run
	go func() {
		defer close(s.done)
		for _, r := range s.replicas {
			if err := roll(ctx, r); err != nil {
				s.err = errors.Join(s.err, err)
				continue
			}
			s.rolled++
		}
	}()
	return nil
}

func roll(ctx context.Context, r *subject.Replica) error {
	if err := r.Stop(ctx); err != nil {
		return fmt.Errorf("stop replica %d: %w", r.Number, err)
	}
	return r.Start(ctx)
}

// Heal implements Strike. Stopping and starting have bounds of their own, so the wait has too.
func (s *rollingStrike) Heal(context.Context) error {
	if !s.begun {
		return nil
	}
	<-s.done
	return s.err
}

// Felt implements Strike: processes restarted. It is read after Heal.
func (s *rollingStrike) Felt() int64 { return s.rolled }
