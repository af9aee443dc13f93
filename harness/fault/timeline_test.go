package fault

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// late is a strike whose healing takes until something else has come due.
type late struct{ healed <-chan struct{} }

func (l late) Inject(context.Context) error { return nil }
func (l late) Heal(ctx context.Context) error {
	select {
	case <-l.healed:
	case <-ctx.Done():
	}
	return nil
}
func (l late) Felt() int64 { return 1 }

// told is a recorder that calls back.
type told func(history.Fault)

func (r told) Fault(f history.Fault) { r(f) }

// On a machine that is late, a healing may reach past the next fault's moment. The next one would end its sessions, or it undo the next one.
func TestAFaultWaitsForTheHealingOfTheOneBeforeOnItsTarget(t *testing.T) {
	now := make(chan struct{})
	close(now)
	other := make(chan struct{})
	fault := func(id int, on Target, replica int, at time.Duration, healed <-chan struct{}) *Fault {
		return &Fault{ID: id, Spec: Spec{Kind: "test", On: on, Replica: replica, At: at, For: time.Millisecond}, strike: late{healed}}
	}
	timeline := &Timeline{faults: []*Fault{
		fault(1, Postgres, 0, 0, other), // heals only when the fault of another target has struck, which is planned after it
		fault(2, Postgres, 0, time.Millisecond, now),
		fault(3, Replica, 1, 2*time.Millisecond, now),
		fault(4, Records, 0, 2*time.Millisecond, now), // works on the database that the first one takes
	}}
	var mu sync.Mutex
	var order []int
	err := timeline.Run(t.Context(), time.Now(), told(func(f history.Fault) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case f.Phase == history.FaultStriking:
			order = append(order, f.ID)
		case f.Phase == history.FaultHealed && f.ID == 1:
			order = append(order, 0)
		}
		if f.Phase == history.FaultStriking && f.ID == 3 {
			close(other)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	healed := slices.Index(order, 0)
	if slices.Index(order, 2) < healed || slices.Index(order, 4) < healed || slices.Index(order, 3) > healed {
		t.Errorf("the order is %v, with 0 for the first one's healing", order)
	}
}
