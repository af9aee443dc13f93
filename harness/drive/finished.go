package drive

import (
	"context"
	"sync"
	"sync/atomic"
)

// finished knows which operations have ended, one bit each, so that others can come after them.
type finished struct {
	bits    []atomic.Uint64
	waiting atomic.Int64 // waiters, so that nobody locks when there is none

	mu    sync.Mutex
	waits map[int64]chan struct{}
}

func newFinished(operations int64) *finished {
	return &finished{bits: make([]atomic.Uint64, operations/64+1), waits: map[int64]chan struct{}{}}
}

func (f *finished) has(op int64) bool {
	return f.bits[op/64].Load()&(1<<(op%64)) != 0
}

func (f *finished) set(op int64) {
	f.bits[op/64].Or(1 << (op % 64))
	if f.waiting.Load() == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.waits[op]; ok {
		close(c)
		delete(f.waits, op)
	}
}

// await returns when the operation has ended, or with the error of ctx.
func (f *finished) await(ctx context.Context, op int64) error {
	if op == 0 || f.has(op) {
		return nil
	}
	f.waiting.Add(1) // before looking again: whoever sets the bit after that look sees a waiter
	defer f.waiting.Add(-1)
	f.mu.Lock()
	if f.has(op) {
		f.mu.Unlock()
		return nil
	}
	c, ok := f.waits[op]
	if !ok {
		c = make(chan struct{})
		f.waits[op] = c
	}
	f.mu.Unlock()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
