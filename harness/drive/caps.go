package drive

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Caps bound what is sent to a server that is not a neighbour's on this machine. Zero values bound nothing.
type Caps struct {
	Rate  float64 // requests a second, beyond a first burst
	Total int64   // requests in all
}

// burst is how many requests may go out at one instant under a rate: as many as a crowd of duplicates.
const burst = 16

// ErrCapped is the error of a request that the cap on all requests keeps back.
var ErrCapped = errors.New("the cap on requests in all is reached")

// meter lets requests pass within caps. Its methods may be called at once.
type meter struct {
	caps Caps
	mu   sync.Mutex
	sent int64
	next time.Time // when the next request is due, if the rate had been kept exactly
}

// pass waits until one more request may be sent.
func (m *meter) pass(ctx context.Context) error {
	wait, err := m.take(time.Now())
	if err != nil || wait <= 0 {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take counts one request, and says how long it has to wait.
func (m *meter) take(now time.Time) (time.Duration, error) {
	if m.caps == (Caps{}) {
		return 0, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.caps.Total > 0 && m.sent >= m.caps.Total {
		return 0, ErrCapped
	}
	m.sent++
	if m.caps.Rate <= 0 {
		return 0, nil
	}
	every := time.Duration(float64(time.Second) / m.caps.Rate)
	if earliest := now.Add(-burst * every); m.next.Before(earliest) {
		m.next = earliest
	}
	m.next = m.next.Add(every)
	return m.next.Sub(now), nil
}

// capped says in the result that the run was cut short.
func (d *driver) capped() {
	if m := &d.meter; m.caps.Total > 0 && m.sent >= m.caps.Total {
		d.doubt("the cap of %d requests was reached: what should have come after them was not sent", m.caps.Total)
	}
}

// checkCaps refuses what cannot be kept.
func (c Caps) check() error {
	if c.Rate < 0 || c.Total < 0 {
		return fmt.Errorf("caps: %v requests a second, %d in all: neither can be negative", c.Rate, c.Total)
	}
	return nil
}
