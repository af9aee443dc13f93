package pgwire

import "context"

// flapper alternates a proxy's link until it is stopped.
type flapper struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// startFlapping returns when the first bad stretch has begun.
func startFlapping(p *Proxy, l Link) *flapper {
	ctx, cancel := context.WithCancel(p.ctx)
	f := &flapper{cancel: cancel, done: make(chan struct{})}
	p.apply(l)
	p.wg.Go(func() {
		defer close(f.done)
		for sleep(ctx, l.Flap.Bad) {
			p.apply(Link{})
			if !sleep(ctx, l.Flap.Good) {
				return
			}
			p.apply(l)
		}
	})
	return f
}

// stop waits, so that no late flap undoes the link that follows.
func (f *flapper) stop() {
	if f == nil {
		return
	}
	f.cancel()
	<-f.done
}
