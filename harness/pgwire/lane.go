package pgwire

import (
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"
)

type direction uint8

const (
	up direction = iota
	down
)

const (
	// laneDepth bounds what a shaped lane buffers (chunks); beyond it the sender
	// is held back, as a full window would hold it.
	laneDepth = 64
	// tricklePiece is the time one throttled write stands for.
	tricklePiece = 20 * time.Millisecond
)

// parcel is one chunk on its way; fin marks the end of the stream, with the
// error that ended it.
type parcel struct {
	bytes []byte
	due   time.Time
	fin   bool
	err   error
}

// lane is the writing half of one direction of a connection. On a clean path
// it writes straight through. Under a shaped link it queues copies that a
// goroutine of the connection delivers when the link lets it; once that queue is
// empty again, writes go straight through as before.
//
// One goroutine at a time may call its methods.
type lane struct {
	conn    *conn
	dir     direction
	dst     net.Conn
	queue   chan parcel
	pending atomic.Int64
	lastDue time.Time
	rng     *rand.Rand
	onFin   func(error)
}

func (l *lane) shape(s *linkState) Lane {
	if l.dir == up {
		return s.up
	}
	return s.down
}

// Write forwards p, which the caller may reuse at once.
func (l *lane) Write(p []byte) (int, error) {
	s := l.conn.proxy.link.now.Load()
	if l.shape(s).plain() && l.pending.Load() == 0 {
		return l.deliver(p)
	}
	parcel := parcel{bytes: append([]byte(nil), p...), due: l.dueUnder(l.shape(s))}
	if !l.enqueue(parcel) {
		return 0, net.ErrClosed
	}
	return len(p), nil
}

// finish ends the stream once everything before it is delivered.
func (l *lane) finish(err error) {
	s := l.conn.proxy.link.now.Load()
	if l.shape(s).plain() && l.pending.Load() == 0 {
		l.onFin(err)
		return
	}
	l.enqueue(parcel{fin: true, err: err, due: l.dueUnder(l.shape(s))})
}

// dueUnder never goes back in time: jitter must not reorder a stream.
func (l *lane) dueUnder(shape Lane) time.Time {
	due := time.Now().Add(shape.Delay)
	if shape.Jitter > 0 {
		due = due.Add(time.Duration(l.rng.Int64N(int64(shape.Jitter))))
	}
	if due.Before(l.lastDue) {
		due = l.lastDue
	}
	l.lastDue = due
	return due
}

func (l *lane) enqueue(p parcel) bool {
	if l.queue == nil {
		l.queue = make(chan parcel, laneDepth)
		l.conn.proxy.wg.Go(l.run)
	}
	l.conn.proxy.count.shaped.Add(1)
	l.pending.Add(1)
	select {
	case l.queue <- p:
		return true
	case <-l.conn.ctx.Done():
		return false
	}
}

func (l *lane) run() {
	for {
		select {
		case p := <-l.queue:
			if !l.await(p.due) || !l.trickle(p) {
				return
			}
			l.pending.Add(-1)
		case <-l.conn.ctx.Done():
			return
		}
	}
}

// await returns when the link lets a parcel due at that time pass: a healed
// link releases at once what an earlier one delayed.
func (l *lane) await(due time.Time) bool {
	for {
		s := l.conn.proxy.link.now.Load()
		shape := l.shape(s)
		if !shape.Hold && (shape.plain() || !time.Now().Before(due)) {
			return true
		}
		wait := time.Until(due)
		if shape.Hold {
			wait = time.Hour
		}
		if !l.conn.pause(wait, s.changed) {
			return false
		}
	}
}

// trickle writes a parcel at the bandwidth of the moment.
func (l *lane) trickle(p parcel) bool {
	if p.fin {
		l.onFin(p.err)
		return true
	}
	for rest := p.bytes; len(rest) > 0; {
		s := l.conn.proxy.link.now.Load()
		shape := l.shape(s)
		if shape.Hold {
			if !l.await(p.due) {
				return false
			}
			continue
		}
		n := pieceOf(shape.Bandwidth, len(rest))
		if _, err := l.deliver(rest[:n]); err != nil {
			return false
		}
		rest = rest[n:]
		if shape.Bandwidth > 0 && !l.conn.pause(time.Duration(n)*time.Second/time.Duration(shape.Bandwidth), s.changed) {
			return false
		}
	}
	return true
}

func pieceOf(bandwidth int64, rest int) int {
	if bandwidth <= 0 {
		return rest
	}
	perPiece := bandwidth * int64(tricklePiece) / int64(time.Second)
	return int(min(max(perPiece, 1), int64(rest)))
}

func (l *lane) deliver(p []byte) (int, error) {
	n, err := l.dst.Write(p)
	l.conn.proxy.count.bytes[l.dir].Add(int64(n))
	if err != nil {
		l.conn.end(endQuiet)
		return n, err
	}
	if l.dir == up && l.conn.busy.Load() && l.conn.proxy.link.now.Load().state == ResetBusy {
		l.conn.end(endReset)
	}
	return n, nil
}
