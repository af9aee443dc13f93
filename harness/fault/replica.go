package fault

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/idemstorm/idemstorm/harness/subject"
)

var anyReplica = []Target{Replica}

// onReplicas makes the strike of a kind that does something to each server that the spec names, side by side.
func onReplicas(inject, heal func(context.Context, *subject.Replica) error) func(Spec, World) (Strike, error) {
	return func(s Spec, w World) (Strike, error) {
		replicas, err := struckReplicas(s, w)
		return &replicaStrike{replicas: replicas, inject: inject, heal: heal}, err
	}
}

func struckReplicas(s Spec, w World) (struck []*subject.Replica, err error) {
	for _, r := range w.Replicas {
		if s.Replica == 0 || s.Replica == r.Number {
			struck = append(struck, r)
		}
	}
	if len(struck) == 0 {
		return nil, fmt.Errorf("nothing to strike: there is no replica %d", s.Replica)
	}
	return struck, nil
}

type replicaStrike struct {
	replicas     []*subject.Replica
	inject, heal func(context.Context, *subject.Replica) error
	struck       int64
}

// Inject implements Strike.
func (s *replicaStrike) Inject(ctx context.Context) error {
	s.struck = int64(len(s.replicas))
	return s.each(ctx, s.inject)
}

// Heal implements Strike. It returns when every server answers again.
func (s *replicaStrike) Heal(ctx context.Context) error { return s.each(ctx, s.heal) }

// Felt implements Strike: processes struck.
func (s *replicaStrike) Felt() int64 { return s.struck }

func (s *replicaStrike) each(ctx context.Context, do func(context.Context, *subject.Replica) error) error {
	errs := make([]error, len(s.replicas))
	var wg sync.WaitGroup
	for i, r := range s.replicas {
		wg.Go(func() { errs[i] = do(ctx, r) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// startAgain starts a server on its old address, unless it runs: a strike that failed half-way has not ended all of them.
func startAgain(ctx context.Context, r *subject.Replica) error {
	select {
	case <-r.Process().Exited():
		return r.Start(ctx)
	default:
		return nil
	}
}
