package pgwire

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// chunkSize is what one read takes at most (bytes).
const chunkSize = 32 << 10

// ending is how a connection's client finds out that it is over.
type ending uint8

const (
	endQuiet ending = iota // an orderly close
	endReset               // a TCP reset, counted as one
)

// conn is one client's connection and the database's end of it.
type conn struct {
	proxy  *Proxy
	id     uint64
	client net.Conn
	ctx    context.Context // ends when either side of the connection is over
	cancel context.CancelFunc
	busy   atomic.Bool // past authentication, so that a client's bytes are statements

	mu     sync.Mutex // guards server against end
	server net.Conn
	once   sync.Once

	up, down *lane
	session  atomic.Pointer[session] // nil unless the protocol is followed
}

func newConn(p *Proxy, id uint64, client net.Conn) *conn {
	c := &conn{proxy: p, id: id, client: client}
	c.ctx, c.cancel = context.WithCancel(p.ctx)
	return c
}

// serve runs the connection from its first byte to its last.
func (c *conn) serve() {
	defer c.proxy.forget(c)
	defer c.end(endQuiet)

	r := bufio.NewReaderSize(c.client, chunkSize)
	if c.awaitOpen(r) != nil {
		return
	}
	first, err := readStartup(r, c.client)
	if err != nil {
		return
	}
	if c.awaitOpen(r) != nil || !c.connect() {
		return
	}
	if first.cancel {
		c.forwardCancel(first.raw)
		return
	}
	c.openLanes()
	if c.proxy.follows() {
		s := newSession(c, first)
		c.session.Store(s)
		s.send(first.raw)
		s.run(r)
		return
	}
	if _, err := c.up.Write(first.raw); err == nil {
		c.pass(r)
	}
}

func (c *conn) connect() bool {
	server, err := c.proxy.dial(c.ctx)
	if err != nil {
		c.end(endReset)
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server = server
	if c.ctx.Err() != nil { // ended while dialling: end saw no server to close
		_ = server.Close()
		return false
	}
	return true
}

func (c *conn) openLanes() {
	c.up = c.newLane(up, c.server, func(error) { closeWrite(c.server) })
	c.down = c.newLane(down, c.client, func(err error) {
		if err == io.EOF {
			c.end(endQuiet)
		} else {
			c.end(endReset)
		}
	})
}

func (c *conn) newLane(dir direction, dst net.Conn, onFin func(error)) *lane {
	rng := rand.New(rand.NewPCG(c.proxy.opts.Seed, c.id<<1|uint64(dir)))
	return &lane{conn: c, dir: dir, dst: dst, rng: rng, onFin: onFin}
}

// pass copies both directions and looks at message headers only: upwards to
// count statements, downwards to see authentication end.
func (c *conn) pass(client *bufio.Reader) {
	var up scanner
	c.proxy.wg.Go(func() {
		c.pump(client, c.up, func(chunk []byte) {
			up.scan(chunk, func(kind byte) {
				if runs(kind) {
					c.proxy.count.statements.Add(1)
				}
			})
		})
	})
	var down scanner
	c.pump(c.server, c.down, func(chunk []byte) {
		if !c.busy.Load() {
			down.scan(chunk, func(kind byte) {
				if kind == 'Z' {
					c.busy.Store(true)
				}
			})
		}
	})
	<-c.ctx.Done()
}

// pump moves bytes until the source ends, and then passes on the end.
func (c *conn) pump(src io.Reader, dst *lane, look func([]byte)) {
	buf := make([]byte, chunkSize)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			look(buf[:n])
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			dst.finish(err)
			return
		}
	}
}

// forwardCancel passes a CancelRequest on and waits until the database closes,
// which is how it says that it has acted.
func (c *conn) forwardCancel(raw []byte) {
	if _, err := c.server.Write(raw); err != nil {
		return
	}
	c.proxy.count.cancels.Add(1)
	c.proxy.canceled(binary.BigEndian.Uint32(raw[8:]))
	_ = c.server.SetReadDeadline(time.Now().Add(dialTimeout))
	_, _ = io.Copy(io.Discard, c.server)
}

// end closes both sides, once; the first caller decides how it looks, and is
// told that it was the first.
func (c *conn) end(how ending) (first bool) {
	c.once.Do(func() {
		first = true
		c.cancel()
		c.mu.Lock()
		server := c.server
		c.mu.Unlock()
		if how == endReset {
			c.proxy.count.reset.Add(1)
			reset(c.client)
		} else {
			_ = c.client.Close()
		}
		if server != nil {
			_ = server.Close()
		}
	})
	return first
}

// pause waits for d or until changed is closed; false means the connection ended.
func (c *conn) pause(d time.Duration, changed <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-changed:
		return true
	case <-c.ctx.Done():
		return false
	}
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the other direction notices a connection that is gone
	}
}
