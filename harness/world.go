package harness

import (
	"context"
	"time"

	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/provider"
)

// world is what the faults of this run can strike. Their notes go to writer, by the clock that begins at zero.
func (r *rig) world(zero time.Time, writer *history.Writer) fault.World {
	w := fault.World{
		Paths: r.paths, Replicas: r.replicas, AdminToken: r.bundle.AdminToken, Database: r.store.dsn,
		Redis: r.redis, Postgres: r.store.cluster, Standby: r.store.standby, Front: r.store.front,
		Bouncer: r.bouncer,
		Command: func(ctx context.Context, args ...string) error { return r.bundle.Run(ctx, r.store.dsn, args...) },
		Note:    noter(zero, writer),
	}
	if r.provider != nil {
		w.Provider = knob{r.provider}
	}
	return w
}

// knob turns what a fault wants of the provider into the provider's own words.
type knob struct{ *provider.Provider }

// Behave implements fault.Provider.
func (k knob) Behave(delay time.Duration, failShare float64, afterActing bool) error {
	return k.SetBehaviour(provider.Behaviour{DelayMillis: delay.Milliseconds(), FailRate: failShare, FailAfterActing: afterActing})
}
