package drive

import (
	"sync/atomic"
	"time"
)

// Progress is told how far a drive is, by one goroutine at a time, some ten times a second.
type Progress interface {
	Phase(name string, total int64) // a phase of total operations begins
	Add(n int64)                    // n more have ended
	Done()                          // the phase has ended
}

const tellEvery = 100 * time.Millisecond

// progress counts for Progress, so that those who send are not held up by those who draw.
type progress struct {
	to    Progress
	count atomic.Int64
}

func newProgress(to Progress) *progress { return &progress{to: to} }

func (p *progress) add(n int64) { p.count.Add(n) }

// phase tells of a phase until the returned function is called.
func (p *progress) phase(name string, total int64) (end func()) {
	if p.to == nil {
		return func() {}
	}
	p.count.Store(0)
	p.to.Phase(name, total)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		p.tell(stop)
	}()
	return func() {
		close(stop)
		<-stopped
		p.to.Done()
	}
}

func (p *progress) tell(stop <-chan struct{}) {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for told := int64(0); ; {
		ended := false
		select {
		case <-tick.C:
		case <-stop:
			ended = true
		}
		if n := p.count.Load(); n > told {
			p.to.Add(n - told)
			told = n
		}
		if ended {
			return
		}
	}
}
