package claimtest

import (
	"context"
	"io"
	"net"
	"sync"
)

// cutter loses one answer of a server: it lets the server do what it was asked, and breaks the connection in place of the answer.
type cutter struct {
	mu     sync.Mutex
	letBy  int // answers that still come through
	armed  bool
	struck bool
}

// arm makes the n-th answer from now on, from 1, the one that is lost.
func (c *cutter) arm(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.letBy, c.armed, c.struck = n-1, true, false
}

// disarm says whether an answer was lost.
func (c *cutter) disarm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = false
	return c.struck
}

func (c *cutter) loses() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.armed {
		return false
	}
	if c.letBy > 0 {
		c.letBy--
		return false
	}
	c.armed, c.struck = false, true
	return true
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cutter: c}, nil
}

// cutConn is one connection through a cutter.
type cutConn struct {
	net.Conn
	cutter *cutter
}

// Read implements net.Conn. What has been read when the answer is lost, the server has done: PostgreSQL and Redis answer afterwards.
func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil && c.cutter.loses() {
		_ = c.Close() // it is broken one way or the other
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}
