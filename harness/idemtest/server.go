package idemtest

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// Server is what is tested: Handler or URL.
type Server struct {
	handlers []http.Handler
	urls     []string
}

// Handler serves a handler on a port of the loopback interface for as long as Run takes. In the scenario storm its requests and answers take up
// to 25 ms on their way, so that clients which lose patience lose some. replicas are further instances, with pools and memory
// of their own, that requests are spread over: a lock that lives in one process keeps no second one out.
func Handler(h http.Handler, replicas ...http.Handler) Server {
	return Server{handlers: append([]http.Handler{h}, replicas...)}
}

// URL names a service that runs already by its base URL, such as http://127.0.0.1:8080, and further processes of it. It must be on this
// machine: a test is no place to storm another one.
func URL(base string, replicas ...string) Server {
	return Server{urls: append([]string{base}, replicas...)}
}

// serving is a server while it is tested.
type serving struct {
	urls    []string
	servers []*http.Server
	ended   sync.WaitGroup
	panics  panics
	distant atomic.Bool // requests and answers take a while on their way

	mu   sync.Mutex
	busy map[net.Conn]bool // connections that a request is read from or handled for
}

func (s Server) start(t testing.TB) (*serving, error) {
	out := &serving{urls: s.urls, busy: map[net.Conn]bool{}, panics: panics{t: t, left: shownPanics}}
	for n, h := range s.handlers {
		if h == nil {
			out.close()
			return nil, fmt.Errorf("Handler: handler %d is nil", n+1)
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback.Host, "0"))
		if err != nil {
			out.close()
			return nil, fmt.Errorf("listen on the loopback interface: %w", err)
		}
		server := &http.Server{Handler: out.overNetwork(h), ConnState: out.note, ErrorLog: log.New(&out.panics, "", 0)}
		out.servers = append(out.servers, server)
		out.urls = append(out.urls, "http://"+listener.Addr().String())
		out.ended.Go(func() { _ = server.Serve(listener) }) // it ends by close
	}
	if len(out.urls) == 0 {
		return nil, errors.New("Server: it is empty; write Handler(h) or URL(base)")
	}
	return out, nil
}

// farthest is how long a request or an answer is on its way at most: longer than the impatient clients of the storm wait.
const farthest = 25 * time.Millisecond

// overNetwork serves a handler as over a network, while that is wanted: a handler in the same process is so fast that no client would ever hang
// up before its answer. An answer that fits into net/http's buffer is sent when this handler returns.
func (s *serving) overNetwork(h http.Handler) http.Handler {
	travel := func(ctx context.Context) {
		if !s.distant.Load() {
			return
		}
		timer := time.NewTimer(rand.N(farthest))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		travel(r.Context())
		h.ServeHTTP(w, r)
		travel(r.Context())
	})
}

func (s *serving) note(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew || state == http.StateActive {
		s.busy[conn] = true
	} else {
		delete(s.busy, conn)
	}
}

func (s *serving) handling() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.busy)
}

const (
	quietWithin = 15 * time.Second // bound on what a handler goes on doing when its client is gone
	quietEvery  = time.Millisecond
	closeWithin = 5 * time.Second
)

// quiet waits until no request is handled any more, also of clients that have hung up, so that nothing can still be written.
func (s *serving) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, quietWithin)
	defer cancel()
	tick := time.NewTicker(quietEvery)
	defer tick.Stop()
	for s.handling() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%d requests are still being handled %v after the last client left; let the handler end with its request's context", s.handling(), quietWithin)
		}
	}
	return nil
}

// close ends the servers, those of handlers that do not return as well.
func (s *serving) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	for _, server := range s.servers {
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
	s.ended.Wait()
	s.panics.hush()
}

// panics shows in the test's log what net/http says, such as that a handler has panicked: a few times, since a storm would say it a thousand
// times, and never after the test.
type panics struct {
	mu   sync.Mutex
	t    testing.TB
	left int
}

const shownPanics = 3

// Write implements io.Writer.
func (p *panics) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left > 0 {
		p.left--
		p.t.Logf("idemtest: the server says: %s", line)
	}
	return len(line), nil
}

func (p *panics) hush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = 0
}
