package drive

import (
	"errors"
	"testing"
	"time"
)

// Under a rate a crowd goes out at one instant, and then one request after the other.
func TestARateLetsOneCrowdThroughAndThenKeepsStep(t *testing.T) {
	m := meter{caps: Caps{Rate: 10}}
	now := time.Unix(1000, 0)
	for n := range 3 * burst {
		wait, err := m.take(now)
		want := max(0, time.Duration(n+1-burst)) * 100 * time.Millisecond
		if err != nil || max(0, wait) != want {
			t.Fatalf("request %d waits %v, %v, want %v", n+1, wait, err, want)
		}
	}
	if wait, _ := m.take(now.Add(time.Hour)); wait > 0 {
		t.Errorf("after an hour of silence a request waits %v", wait)
	}
}

func TestTheCapInAllIsNeverExceeded(t *testing.T) {
	m := meter{caps: Caps{Total: 2}}
	for n := range 4 {
		_, err := m.take(time.Unix(0, 0))
		if got := errors.Is(err, ErrCapped); got != (n >= 2) {
			t.Errorf("request %d: capped %t", n+1, got)
		}
	}
	free := meter{}
	if wait, err := free.take(time.Unix(0, 0)); wait != 0 || err != nil {
		t.Errorf("without caps: %v, %v", wait, err)
	}
}
