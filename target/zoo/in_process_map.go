package zoo

import (
	"context"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var inProcessMap = Variant{
	Name:  "in-process-map",
	Class: "claims in process memory",
	Story: "The keys that have been seen are kept in a map of the process, which is fast and needs no database. A restart " +
		"forgets them, and a retry that comes after it is served as new.",
	Seen:      "AnchorNet-Org/AnchorNet-Backend#221: replays are kept in a map of each process, so another replica runs the request again",
	Invariant: "at-most-once",
	Scenario:  "restart",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = leaseClaimer{reference(p), &mapLeases{until: map[string]time.Time{}}}
		return p
	},
}

// mapLeases live as long as the process. An entry that is over is removed when its name is taken again.
type mapLeases struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (m *mapLeases) take(_ context.Context, name string, hold time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); m.until[name].Before(now) {
		m.until[name] = now.Add(hold)
		return true, nil
	}
	return false, nil
}

func (m *mapLeases) keep(_ context.Context, name string, hold time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.until[name] = time.Now().Add(hold)
	return nil
}
