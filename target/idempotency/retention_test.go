package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// heap is a sweeper over a number of expired records. Each batch takes a while.
type heap struct {
	left    int64
	takes   time.Duration
	batches int
}

func (h *heap) Sweep(_ context.Context, _ idempotency.DB, limit int) (int64, error) {
	time.Sleep(h.takes)
	h.batches++
	n := min(h.left, int64(limit))
	h.left -= n
	return n, nil
}

func TestASweepRestsNineTimesAsLongAsABatchTookAndASecondAtMost(t *testing.T) {
	for _, c := range []struct {
		name         string
		takes, total time.Duration
		records      int64
	}{
		{"one batch that is not full rests for nobody", 10 * time.Millisecond, 10 * time.Millisecond, 99},
		{"three full batches and an empty one have three rests", 10 * time.Millisecond, 4*10*time.Millisecond + 3*90*time.Millisecond, 300},
		{"a slow batch", 700 * time.Millisecond, 2*700*time.Millisecond + time.Second, 150},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				n, err := idempotency.SweepAll(t.Context(), &heap{left: c.records, takes: c.takes}, nil, 100)
				if took := time.Since(begun); err != nil || n != c.records || took != c.total {
					t.Fatalf("%d removed in %v, error %v; want %d in %v", n, took, err, c.records, c.total)
				}
			})
		})
	}
}

func TestASweepThatIsCalledOffWhileItRestsSaysWhatItRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		h := &heap{left: 1000, takes: 10 * time.Millisecond}
		n, err := idempotency.SweepAll(ctx, h, nil, 100)
		if n != 100 || h.batches != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%d removed in %d batches, error %v; want 100 in one, and the context's error", n, h.batches, err)
		}
	})
}

// shelf is a heap that knows when its records expired: one a second.
type shelf struct {
	heap
	from []time.Time
}

var long = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s *shelf) SweepFrom(ctx context.Context, db idempotency.DB, from time.Time, limit int) (int64, time.Time, error) {
	s.from = append(s.from, from)
	n, err := s.Sweep(ctx, db, limit)
	if n == 0 {
		return 0, from, err
	}
	return n, long.Add(time.Duration(s.batches*limit) * time.Second), err
}

func TestASweepBeginsEachBatchWhereTheLastOneEnded(t *testing.T) {
	s := &shelf{heap: heap{left: 200}}
	n, err := idempotency.SweepAll(t.Context(), s, nil, 100)
	if err != nil || n != 200 {
		t.Fatalf("%d removed, error %v", n, err)
	}
	if diff := cmp.Diff([]time.Time{{}, long.Add(100 * time.Second), long.Add(200 * time.Second)}, s.from); diff != "" {
		t.Errorf("batches began elsewhere (-want +got):\n%s", diff)
	}
}
