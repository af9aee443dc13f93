// Package progress shows how far a run has come: bars with rate and time left on a terminal, a plain line every few seconds
// elsewhere.
//
// It belongs to the reports, and like them it decides nothing: a phase that overruns its total or is given up is shown as it
// is.
package progress

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how progress is shown. The zero value writes plain lines every five seconds.
type Options struct {
	Terminal bool          // the writer is a terminal that can redraw: bars instead of lines
	Quiet    bool          // nothing at all
	Every    time.Duration // between plain lines; 0 is five seconds
	Events   func(Event)   // takes everything as data instead of the writer; nil writes
}

// Progress follows one phase after another. Add may be called from many goroutines and costs one atomic addition; Phase and
// Done belong to the goroutine that owns the Progress.
type Progress struct {
	show  display
	every time.Duration
	done  atomic.Int64
	stop  chan struct{}
	ended sync.WaitGroup
}

// display is one way to show a phase. Its methods are called by one goroutine at a time.
type display interface {
	begin(name string, total int64)
	update(done int64)
	end(done int64)
	close()
}

// New starts nothing: the first goroutine is started by Phase, and Done waits for it.
func New(w io.Writer, o Options) *Progress {
	p := &Progress{every: o.Every}
	switch {
	case o.Quiet:
		p.show = silence{}
	case o.Events != nil:
		p.show = &events{to: o.Events, now: time.Now}
	case o.Terminal:
		p.show, p.every = &bars{w: w}, 100*time.Millisecond
	default:
		p.show = &lines{w: w, now: time.Now}
	}
	if p.every <= 0 {
		p.every = 5 * time.Second
	}
	return p
}

// Phase ends the phase before it and begins one of total steps; 0 means that the total is not known.
func (p *Progress) Phase(name string, total int64) {
	p.finish()
	p.done.Store(0)
	p.stop = make(chan struct{})
	p.show.begin(name, total)
	p.ended.Add(1)
	go p.follow(p.stop)
}

// Add counts n more steps of the current phase as done.
func (p *Progress) Add(n int64) { p.done.Add(n) }

// Done ends the last phase and leaves the writer to its owner: nothing is written until the next Phase. It may be called twice.
func (p *Progress) Done() {
	p.finish()
	p.show.close()
}

// Above is where lines for w are written while phases are shown: above the bars, where w is the same terminal as theirs, and else to w itself.
// It takes whole lines, from the goroutines that run between Phase and Done.
func (p *Progress) Above(w io.Writer, sameTerminal bool) io.Writer {
	if b, ok := p.show.(*bars); ok && sameTerminal {
		return above{b, w}
	}
	return w
}

// finish waits for the follower first, so that the display is never called from two goroutines.
func (p *Progress) finish() {
	if p.stop == nil {
		return
	}
	close(p.stop)
	p.ended.Wait()
	p.stop = nil
	p.show.end(p.done.Load())
}

// follow belongs to one phase and ends with it.
func (p *Progress) follow(stop <-chan struct{}) {
	defer p.ended.Done()
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			p.show.update(p.done.Load())
		}
	}
}

// silence shows nothing.
type silence struct{}

func (silence) begin(string, int64) {}
func (silence) update(int64)        {}
func (silence) end(int64)           {}
func (silence) close()              {}
