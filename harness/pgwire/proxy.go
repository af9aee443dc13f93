package pgwire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// dialTimeout bounds the wait for the database to accept a connection.
const dialTimeout = 10 * time.Second

// Options say where a proxy listens and what it stands in front of.
type Options struct {
	// Upstream is the database: host:port, or the path of a Unix socket.
	Upstream string
	// Addr is where to listen; empty is a free port on 127.0.0.1.
	Addr string
	// Seed makes jitter repeatable.
	Seed uint64
	// Controller decides on every step; without one, all steps pass.
	Controller Controller
	// Follow makes the proxy follow the protocol without a controller yet, so
	// that one set later knows what was prepared before. It costs speed.
	Follow bool
	// Params keeps bound parameters in the steps. They may hold secrets.
	Params bool
}

// ErrNotFollowing is returned by SetController on a proxy that passes bytes unread.
var ErrNotFollowing = errors.New("pgwire: the proxy does not follow the protocol (Options.Follow)")

// Proxy passes connections to one database. All its methods may be called at
// any time from any goroutine.
type Proxy struct {
	opts     Options
	listener net.Listener
	upstream atomic.Pointer[string]
	control  atomic.Pointer[Controller]
	link     *linkSwitch
	count    counters

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // every goroutine of the proxy and its connections

	mu     sync.Mutex // guards what follows
	conns  map[*conn]struct{}
	lastID uint64

	flapMu sync.Mutex // held across a change of link
	flap   *flapper
}

// Listen starts a proxy. The caller must Close it.
func Listen(opts Options) (*Proxy, error) {
	if opts.Upstream == "" {
		return nil, errors.New("pgwire: no upstream address")
	}
	if opts.Addr == "" {
		opts.Addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("pgwire: listen on %s: %w", opts.Addr, err)
	}
	p := &Proxy{opts: opts, listener: listener, link: newLinkSwitch(), conns: map[*conn]struct{}{}}
	p.SetUpstream(opts.Upstream)
	p.control.Store(&opts.Controller)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.accept)
	return p, nil
}

// Addr is the host:port that clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetUpstream sends new connections to another database. Open ones stay where
// they are; Reset them to make clients come again.
func (p *Proxy) SetUpstream(addr string) { p.upstream.Store(&addr) }

// SetController has another controller, or none (nil), decide on every step that
// arrives from now on. Steps that are being decided stay with the one before.
func (p *Proxy) SetController(c Controller) error {
	if !p.follows() {
		return ErrNotFollowing
	}
	p.control.Store(&c)
	return nil
}

func (p *Proxy) controlledBy() Controller { return *p.control.Load() }

func (p *Proxy) follows() bool { return p.opts.Follow || p.opts.Controller != nil }

// Stats returns the counts so far.
func (p *Proxy) Stats() Stats { return p.count.snapshot() }

// SetLink puts the path into the given condition, at once, for open and new
// connections alike. Link{} heals it. It returns when the condition is in force.
func (p *Proxy) SetLink(l Link) {
	p.flapMu.Lock()
	defer p.flapMu.Unlock()
	p.flap.stop()
	p.flap = nil
	if l.Flap.Bad > 0 && l.Flap.Good > 0 {
		p.flap = startFlapping(p, l)
		return
	}
	p.apply(l)
}

// apply publishes a link. Under Refuse nothing open survives it: a connection
// is registered either before the change, and reset here, or after, and refused.
func (p *Proxy) apply(l Link) {
	p.mu.Lock()
	p.link.set(l)
	p.mu.Unlock()
	if l.State == Refuse {
		p.Reset()
	}
}

// Reset breaks every open connection now, whatever it is doing, and returns
// how many there were.
func (p *Proxy) Reset() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for c := range p.conns {
		if c.end(endReset) {
			n++
		}
	}
	return n
}

// Close stops listening, resets all connections and waits for every goroutine
// of the proxy, controllers' calls included: those must heed their context.
func (p *Proxy) Close() error {
	p.SetLink(Link{})
	p.cancel()
	err := p.listener.Close()
	p.Reset()
	p.wg.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("pgwire: close listener: %w", err)
	}
	return nil
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			if p.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors, most likely: let some connections end first.
			if !sleep(p.ctx, 10*time.Millisecond) {
				return
			}
			continue
		}
		p.count.accepted.Add(1)
		if c := p.admit(client); c != nil {
			p.wg.Go(c.serve)
		} else {
			p.count.refused.Add(1)
			reset(client)
		}
	}
}

// admit registers a connection, or returns nil if the link refuses it.
func (p *Proxy) admit(client net.Conn) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil || p.link.now.Load().state == Refuse {
		return nil
	}
	p.lastID++
	c := newConn(p, p.lastID, client)
	p.conns[c] = struct{}{}
	p.count.active.Add(1)
	return c
}

// canceled tells the session of a backend that its client wants to cancel.
func (p *Proxy) canceled(pid uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if s := c.session.Load(); s != nil && s.who.Load().PID == pid {
			s.canceled()
		}
	}
}

func (p *Proxy) forget(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	p.count.active.Add(-1)
}

func (p *Proxy) dial(ctx context.Context) (net.Conn, error) {
	addr, network := *p.upstream.Load(), "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	server, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		p.count.unreachable.Add(1)
		return nil, fmt.Errorf("pgwire: connect to database %s: %w", addr, err)
	}
	return server, nil
}

// reset closes a connection so that its peer sees a reset, not an orderly end.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only on a connection that is gone already
	}
	_ = c.Close()
}

// sleep waits for d, or returns false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
