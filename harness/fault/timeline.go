package fault

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// Recorder takes the moments at which faults begin and heal. It is used by several goroutines at once.
type Recorder interface {
	Fault(history.Fault)
}

// Timeline is the faults of one run, in the order of the scenario.
type Timeline struct {
	faults []*Fault
}

// NewTimeline binds the faults of a scenario to what can be struck in a run. The specs must be valid (see ValidateAll).
func NewTimeline(specs []Spec, w World) (*Timeline, error) {
	t := &Timeline{}
	for i, s := range specs {
		s = s.complete()
		kind, known := kindOf(s.Kind)
		if !known {
			return nil, fmt.Errorf("faults[%d].kind: %q is none of %v", i, s.Kind, names())
		}
		strike, err := kind.Strike(s, w)
		if err != nil {
			return nil, fmt.Errorf("faults[%d]: %w", i, err)
		}
		t.faults = append(t.faults, &Fault{ID: i + 1, Spec: s, kind: kind, strike: strike})
	}
	return t, nil
}

// Run strikes and heals as planned, counted from zero, and records each moment. It returns when the last fault has healed. When ctx ends
// early, what is in force is healed at once, and the error says so.
//
// A fault whose planned moment comes before an earlier one of the same target has healed, as on a machine that is late, waits for that: each
// would undo or cut off the other.
func (t *Timeline) Run(ctx context.Context, zero time.Time, rec Recorder) error {
	errs := make([]error, len(t.faults))
	over := make([]chan struct{}, len(t.faults))
	for i := range over {
		over[i] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for i, f := range t.faults {
		wg.Go(func() {
			defer close(over[i])
			for _, earlier := range t.before(i) {
				<-over[earlier]
			}
			errs[i] = f.run(ctx, zero, rec)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// before lists the faults that are planned to be over when the i-th strikes, and must be.
func (t *Timeline) before(i int) (list []int) {
	s := t.faults[i].Spec
	for j, f := range t.faults {
		if f.Spec.end() <= s.At && (s.sharesTarget(f.Spec) || s.disputes(f.Spec)) {
			list = append(list, j)
		}
	}
	return list
}
