package drive

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/idemstorm/idemstorm/harness/history"
)

// job is one operation, or all operations of one group.
type job struct {
	op   history.Operation
	rest []history.Operation // the other members of its group
}

func (j *job) members() int64 { return 1 + int64(len(j.rest)) }

// jobs gathers the members of groups, which stand together in the plan.
func jobs(ops iter.Seq[history.Operation]) iter.Seq[job] {
	return func(yield func(job) bool) {
		var held job
		for o := range ops {
			if held.op.ID != 0 && o.Group != 0 && o.Group == held.op.Group {
				held.rest = append(held.rest, o)
				continue
			}
			if held.op.ID != 0 && !yield(held) {
				return
			}
			held = job{op: o}
		}
		if held.op.ID != 0 {
			yield(held)
		}
	}
}

// queued bounds the jobs that wait for clients, over all of them. A client that falls further behind than its part holds the others up.
const queued = 1 << 15

// closedLoop lets every client perform its operations one after another, and returns how many were begun. Each client is one goroutine, and this
// one deals the operations out.
func (d *driver) closedLoop(ctx, more context.Context, phase int) int64 {
	clients := d.Plan.Phases()[phase].Clients
	queues := make([]chan job, clients)
	var begun atomic.Int64
	var wg sync.WaitGroup
	for i := range queues {
		queues[i] = make(chan job, max(16, queued/clients))
		wg.Go(func() { d.client(ctx, more, queues[i], &begun) })
	}
	for j := range jobs(d.Plan.Phase(phase)) {
		select {
		case queues[j.op.Client] <- j:
			continue
		case <-more.Done():
		}
		break
	}
	for _, q := range queues {
		close(q)
	}
	wg.Wait()
	return begun.Load()
}

func (d *driver) client(ctx, more context.Context, queue <-chan job, begun *atomic.Int64) {
	c := &crowd{d: d}
	defer c.close()
	for j := range queue {
		if d.finished.await(more, j.op.After) != nil || over(ctx, more) {
			continue // the phase is over: drain
		}
		begun.Add(j.members())
		c.perform(ctx, more, j, d.now())
	}
}

// crowd is a client's lanes: one for itself, and as many as its largest group has members.
type crowd struct {
	d     *driver
	lanes []*lane
}

func (c *crowd) close() {
	for _, l := range c.lanes {
		l.close()
	}
}

func (c *crowd) lane(i int) *lane {
	for len(c.lanes) <= i {
		c.lanes = append(c.lanes, c.d.newLane())
	}
	return c.lanes[i]
}

// perform carries out a job that was due at intended, and returns when all its operations have ended.
func (c *crowd) perform(ctx, more context.Context, j job, intended int64) {
	if len(j.rest) == 0 {
		c.lane(0).perform(ctx, more, try{op: &j.op, n: 1, intended: intended})
		return
	}
	// Everyone connects and prepares the request first; then all are released at one instant.
	var ready, done sync.WaitGroup
	release := make(chan struct{})
	members := append([]history.Operation{j.op}, j.rest...)
	ready.Add(len(members))
	for i := range members {
		l := c.lane(i)
		done.Go(func() {
			l.perform(ctx, more, try{op: &members[i], n: 1, intended: intended, release: release, ready: ready.Done})
		})
	}
	ready.Wait()
	close(release)
	done.Wait()
}
