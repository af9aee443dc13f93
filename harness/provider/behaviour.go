package provider

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Behaviour is how the provider treats calls to POST /v1/charges. The zero value
// answers at once, never fails, and honours keys.
type Behaviour struct {
	// DelayMillis is how long a call takes before the charge is made, in milliseconds.
	DelayMillis int64 `json:"delay_ms"`
	// FailEvery answers every n-th call with 500, counted from the last change of behaviour; 0: none.
	FailEvery int `json:"fail_every"`
	// FailRate is the share of calls, 0 to 1, answered with 500, drawn with Seed.
	FailRate float64 `json:"fail_rate"`
	Seed     uint64  `json:"seed"`
	// FailAfterActing makes a failing call charge first, so that its answer lies.
	FailAfterActing bool `json:"fail_after_acting"`
	// NoDedup ignores keys: every call is a charge.
	NoDedup bool `json:"no_dedup"`
}

func (b Behaviour) validate() error {
	switch {
	case b.DelayMillis < 0:
		return fmt.Errorf("delay_ms must not be negative, got %d", b.DelayMillis)
	case b.FailEvery < 0:
		return fmt.Errorf("fail_every must not be negative, got %d", b.FailEvery)
	case !(b.FailRate >= 0 && b.FailRate <= 1): // also refuses NaN
		return fmt.Errorf("fail_rate must lie between 0 and 1, got %v", b.FailRate)
	case b.FailEvery > 0 && b.FailRate > 0:
		return errors.New("fail_every and fail_rate exclude one another")
	}
	return nil
}

func (b Behaviour) delay() time.Duration {
	return time.Duration(b.DelayMillis) * time.Millisecond
}

// conduct is a behaviour together with what it has decided so far.
type conduct struct {
	Behaviour
	calls int
	draw  *rand.Rand
}

func newConduct(behaviour Behaviour) *conduct {
	return &conduct{Behaviour: behaviour, draw: rand.New(rand.NewPCG(behaviour.Seed, 0))}
}

// next decides whether the next call fails. The draw is made for every call, so
// that the n-th call has the same fate in every run with the same seed.
func (c *conduct) next() bool {
	c.calls++
	unlucky := c.draw.Float64() < c.FailRate
	return unlucky || (c.FailEvery > 0 && c.calls%c.FailEvery == 0)
}
