package drive

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// conn is one connection to one replica, used for one request at a time. It is kept by hand, and not by net/http's Transport: that would send a
// request with an Idempotency-Key a second time by itself when a kept connection turns out to be dead, which is what the run must see.
type conn struct {
	net    net.Conn
	plain  bool // not TLS: a write that took no byte has sent nothing
	reader *answerReader
	idle   time.Time // since when
}

// staleAfter is how long a connection may be idle before it is looked at before use: a server that has closed it meanwhile is not worth a lost attempt.
const staleAfter = time.Millisecond

var dialer = net.Dialer{KeepAlive: -1}

// dial connects until deadline.
func (s server) dial(ctx context.Context, deadline time.Time) (*conn, error) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	raw, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	c := &conn{net: raw, plain: s.tls == nil}
	if s.tls != nil {
		t := tls.Client(raw, s.tls)
		if err := t.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, raw.Close())
		}
		c.net = t
	}
	c.reader = newAnswerReader(c.net)
	return c, nil
}

// usable reports whether a kept connection still stands, as far as that can be seen.
func (c *conn) usable() bool {
	return time.Since(c.idle) < staleAfter || !hasInput(c.net)
}

// registry knows the live connections, so that the end of a run can wake everyone who waits on one.
type registry struct {
	mu   sync.Mutex
	live map[*conn]struct{}
	over bool
}

func (r *registry) add(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live = map[*conn]struct{}{}
	}
	r.live[c] = struct{}{}
	if r.over {
		_ = c.net.SetDeadline(time.Unix(1, 0))
	}
}

func (r *registry) close(c *conn) {
	r.mu.Lock()
	delete(r.live, c)
	r.mu.Unlock()
	_ = c.net.Close() // an error here changes nothing that was recorded
}

// interrupt makes every read and write return at once.
func (r *registry) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	for c := range r.live {
		_ = c.net.SetDeadline(time.Unix(1, 0))
	}
}
