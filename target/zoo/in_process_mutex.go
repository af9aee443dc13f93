package zoo

import (
	"context"
	"sync"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var inProcessMutex = Variant{
	Name:  "in-process-mutex",
	Class: "lock in one process",
	Story: "A mutex for each key makes duplicates wait until the first one has stored its answer. It holds within one " +
		"process; the day there are two replicas, each has its own.",
	Seen:      "terabyte/stashbot#41: synchronization in one process cured a race for one web server and left it for several",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = &mutexClaimer{InsertClaimer: reference(p), held: map[string]chan struct{}{}}
		return p
	},
}

// mutexClaimer holds one lock a key from the look to the end of the request.
type mutexClaimer struct {
	*idempotency.InsertClaimer
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the key is free again
}

// Claim implements idempotency.Claimer.
func (c *mutexClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	name := lockName(req)
	if err := c.lock(ctx, name); err != nil {
		return nil, err
	}
	taken, err := look(ctx, c.Store, req)
	if err != nil || taken {
		c.unlock(name)
		return nil, err
	}
	claim := unfenced(c.InsertClaimer, req)
	claim.Release = func() { c.unlock(name) }
	return claim, nil
}

func (c *mutexClaimer) lock(ctx context.Context, name string) error {
	for {
		c.mu.Lock()
		free, busy := c.held[name]
		if !busy {
			c.held[name] = make(chan struct{})
			c.mu.Unlock()
			return nil
		}
		c.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *mutexClaimer) unlock(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.held[name])
	delete(c.held, name)
}
