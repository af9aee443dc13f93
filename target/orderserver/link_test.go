package orderserver_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// link is a path to the database that can fail. It understands just enough of the protocol to count round trips and to
// swallow the answer to a statement after the database acted on it.
type link struct {
	dsn      string
	upstream string
	ln       net.Listener
	trips    atomic.Int64
	refusing atomic.Bool

	mu      sync.Mutex
	conns   map[net.Conn]bool
	hanging bool
	resumed chan struct{}
	lose    string // the answer to the next statement that contains it is lost
}

func newLink(t *testing.T, dsn string) *link {
	u := must(url.Parse(dsn))
	l := &link{upstream: u.Host, ln: must(net.Listen("tcp", "127.0.0.1:0")), conns: map[net.Conn]bool{}, resumed: make(chan struct{})}
	close(l.resumed)
	u.Host = l.ln.Addr().String()
	u.RawQuery = "sslmode=disable"
	l.dsn = u.String()
	var serving sync.WaitGroup
	serving.Go(func() { l.accept(&serving) })
	t.Cleanup(func() {
		_ = l.ln.Close()
		l.pass()
		l.cut()
		serving.Wait()
	})
	return l
}

func (l *link) accept(serving *sync.WaitGroup) {
	for {
		client, err := l.ln.Accept()
		if err != nil {
			return
		}
		if l.refusing.Load() {
			_ = client.Close()
			continue
		}
		server, err := net.Dial("tcp", l.upstream)
		if err != nil {
			_ = client.Close()
			continue
		}
		c := &linkConn{link: l, client: client, server: server, statements: map[string]string{}}
		l.mu.Lock()
		l.conns[client], l.conns[server] = true, true
		l.mu.Unlock()
		serving.Go(c.requests)
		serving.Go(c.answers)
	}
}

// refuse closes what is open and whatever comes; hang leaves everything open and passes nothing; pass heals both.
func (l *link) refuse() { l.refusing.Store(true); l.cut() }

func (l *link) hang() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hanging, l.resumed = true, make(chan struct{})
}

func (l *link) pass() {
	l.refusing.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hanging {
		l.hanging = false
		close(l.resumed)
	}
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}

func (l *link) loseAnswerTo(sql string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose = sql
}

func (l *link) loses(sql string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lose == "" || !strings.Contains(sql, l.lose) {
		return false
	}
	l.lose = ""
	return true
}

func (l *link) wait() {
	l.mu.Lock()
	resumed := l.resumed
	l.mu.Unlock()
	<-resumed
}

type linkConn struct {
	*link
	client, server net.Conn
	statements     map[string]string
	mute           atomic.Bool
}

func (c *linkConn) close() { _ = c.client.Close(); _ = c.server.Close() }

// requests forwards message by message; the startup message has no type.
func (c *linkConn) requests() {
	defer c.close()
	for first := true; ; first = false {
		message, err := readMessage(c.client, first)
		if err != nil {
			return
		}
		c.wait()
		if !first {
			c.look(message[0], message[5:])
		}
		if _, err := c.server.Write(message); err != nil {
			return
		}
	}
}

func readMessage(from io.Reader, untyped bool) ([]byte, error) {
	head := make([]byte, 5)
	if untyped {
		head = head[:4]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(head[len(head)-4:]))
	if length < 4 || length > 1<<24 {
		return nil, errors.New("not a message")
	}
	message := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(from, message[len(head):])
	return message, err
}

func (c *linkConn) look(kind byte, body []byte) {
	parts := bytes.SplitN(body, []byte{0}, 3)
	switch kind {
	case 'Q':
		c.trips.Add(1)
		c.mute.Store(c.loses(string(parts[0])))
	case 'P':
		c.statements[string(parts[0])] = string(parts[1])
	case 'B':
		if c.loses(c.statements[string(parts[1])]) {
			c.mute.Store(true)
		}
	case 'S':
		c.trips.Add(1)
	}
}

func (c *linkConn) answers() {
	defer c.close()
	buf := make([]byte, 1<<14)
	for {
		n, err := c.server.Read(buf)
		if err != nil || c.mute.Load() {
			return
		}
		c.wait()
		if _, err := c.client.Write(buf[:n]); err != nil {
			return
		}
	}
}
