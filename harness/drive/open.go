package drive

import (
	"context"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/plan"
)

// openLoop sends every operation when it is due, whoever still waits, and returns how many were begun. When as many clients are busy as the phase
// allows, the next operation waits for one; its response time counts from when it was due all the same.
func (d *driver) openLoop(ctx, more context.Context, phase int) int64 {
	ph := d.Plan.Phases()[phase]
	pool := newPool(d, ctx, more, ph)
	defer func() { d.judgeLateness(ph, pool.full) }()
	defer pool.close()
	start := d.now()
	pace := newPacer(d, start)
	defer pace.close()
	var begun int64
	for j := range jobs(d.Plan.Phase(phase)) {
		due := start + j.op.DueNS
		if !pace.until(more, due) {
			break
		}
		if !pool.hand(work{job: j, intended: due}) {
			break
		}
		begun += j.members()
	}
	return begun
}

var lateAll = latency.Series{Group: latency.All, Kind: latency.Lateness}

// lateness is the series of one phase's own lateness; that of all phases together is in latency.All.
func lateness(phase string) latency.Series {
	return latency.Series{Group: "phase " + phase, Kind: latency.Lateness}
}

// judgeLateness doubts the phase's latencies when the generator could not keep up.
func (d *driver) judgeLateness(ph plan.Phase, full int64) {
	s := d.latency.Summary(lateness(ph.Name))
	late := s.Max
	if p99 := d.latency.Quantile(s.Series, 0.99); p99.Known {
		late = p99.Value
	}
	if late <= d.MaxLate {
		return
	}
	why := "the generator was too late to trust its latencies"
	if full > 0 {
		why = "all clients were busy when operations were due"
	}
	d.doubt("phase %s: %s: p99 of the lateness is %v, the limit %v; %d of %d operations waited for a client",
		ph.Name, why, late.Round(time.Microsecond), d.MaxLate, full, s.Count)
}

// work is a job and when it is due.
type work struct {
	job
	intended int64
}

// pool runs the clients of an open loop. Those that were busy last are used first: their connections are warm.
type pool struct {
	d         *driver
	ctx, more context.Context
	slots     chan struct{} // one token a busy client
	wg        sync.WaitGroup
	full      int64 // how often nobody was free
	late      []latency.Series

	mu   sync.Mutex
	idle []chan work
	all  []chan work
}

func newPool(d *driver, ctx, more context.Context, ph plan.Phase) *pool {
	return &pool{
		d: d, ctx: ctx, more: more, slots: make(chan struct{}, ph.Clients),
		late: []latency.Series{lateness(ph.Name), lateAll},
	}
}

// hand gives w to a free client, waiting for one if need be; false means that the phase is over.
func (p *pool) hand(w work) bool {
	select {
	case p.slots <- struct{}{}:
	default:
		p.full++
		select {
		case p.slots <- struct{}{}:
		case <-p.more.Done():
			return false
		}
	}
	p.client() <- w
	return true
}

// client is one that waits for work. There is one: a slot is taken only by those who work.
func (p *pool) client() chan<- work {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c
	}
	c := make(chan work, 1)
	p.all = append(p.all, c)
	p.wg.Go(func() { p.run(c) })
	return c
}

func (p *pool) run(c chan work) {
	crowd := &crowd{d: p.d}
	defer crowd.close()
	for w := range c {
		p.perform(crowd, w)
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
		<-p.slots
	}
}

func (p *pool) perform(c *crowd, w work) {
	if p.d.finished.await(p.more, w.op.After) != nil || over(p.ctx, p.more) {
		return
	}
	t := try{op: &w.op, n: 1, intended: w.intended, late: p.late, taken: p.d.now()}
	if len(w.rest) > 0 || w.op.Twin { // these send by several hands, which begin together
		c.lane(0).punctual(&t)
		c.perform(p.ctx, p.more, w.job, w.intended)
		return
	}
	c.lane(0).perform(p.ctx, p.more, t)
}

// punctual holds t back until it is due, and records the generator's own lateness: how much later it is then or, where connecting took until after
// that, how late its client began with it.
func (l *lane) punctual(t *try) {
	late := max(0, t.taken-t.intended)
	if l.d.now() < t.intended {
		late = l.d.spinUntil(t.intended) - t.intended
	}
	for _, series := range t.late {
		l.latency.Record(series, time.Duration(late))
	}
}

// close waits for the work in progress and ends the clients.
func (p *pool) close() {
	p.mu.Lock()
	for _, c := range p.all {
		close(c)
	}
	p.mu.Unlock()
	p.wg.Wait()
}
