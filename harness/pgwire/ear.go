package pgwire

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// maxHeard bounds the messages of a database that are read in full (bytes);
// larger ones are passed on and heard by their type alone.
const maxHeard = 1 << 20

// ear follows the database's side of a connection and passes it to the client.
// It buffers no more than the messages that must be understood whole; rows flow.
type ear struct {
	// current is the exchange that the database works on; nil between two.
	current atomic.Pointer[exchange]
	// identify is told what the database says about the session.
	identify func(kind byte, body []byte)
	// cut ends the connection after a withheld answer.
	cut func(*exchange)
	// write passes bytes to the client.
	write func([]byte) error
	// turn is held while a message is under way to the client, so that what the
	// proxy says of its own falls between two messages.
	turn sync.Mutex

	buf     []byte // received and not yet passed on
	skip    int64  // bytes of a message that pass unread
	muffled bool   // those bytes are withheld
	strayed bool   // the stream is no protocol 3 stream
	holding bool   // turn is held
}

// errCut says that an exchange ended with the connection.
var errCut = errors.New("cut")

// run passes the stream on until it ends, and returns why.
func (l *ear) run(server io.Reader) error {
	defer l.release()
	chunk := make([]byte, chunkSize)
	for {
		n, err := server.Read(chunk)
		if n > 0 {
			if err := l.hear(chunk[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			_ = l.pass(l.buf, false) // half a message; the stream's end is what counts
			return err
		}
	}
}

// hear takes in a chunk: it passes on what may be passed and keeps the rest,
// the beginning of a message that must be understood whole.
func (l *ear) hear(chunk []byte) error {
	if len(l.buf) > 0 {
		l.buf = append(l.buf, chunk...)
		chunk = l.buf
	}
	start, at := 0, 0 // chunk[start:at] is to be passed on in one write
	for at < len(chunk) {
		size, whole := l.message(chunk[at:])
		if !whole {
			break
		}
		e := l.current.Load()
		ended, drop := l.notice(e, chunk[at:at+size])
		if drop {
			if err := l.pass(chunk[start:at], false); err != nil {
				return err
			}
			start = at + size
		}
		at += size
		if ended {
			if err := l.conclude(e, chunk[start:at]); err != nil {
				return err
			}
			start = at
		}
	}
	if err := l.pass(chunk[start:at], l.skip > 0 && !l.muffled); err != nil {
		return err
	}
	l.buf = append(l.buf[:0], chunk[at:]...)
	return nil
}

// message returns how much of the chunk belongs to its first message, or
// false if that must wait for more.
func (l *ear) message(chunk []byte) (size int, whole bool) {
	if l.strayed {
		return len(chunk), true
	}
	if l.skip > 0 {
		return int(min(l.skip, int64(len(chunk)))), true
	}
	if len(chunk) < headerLen {
		return 0, false
	}
	length, ok := bodyLen(chunk)
	if !ok {
		l.strayed = true
		return len(chunk), true
	}
	total := length + headerLen
	if total <= int64(len(chunk)) {
		return int(total), true
	}
	if matters(chunk[0]) && length <= maxHeard {
		return 0, false
	}
	return len(chunk), true
}

// notice takes in one message, or a part of one that passes unread. It says
// whether it ends the exchange and whether the client must not see it.
func (l *ear) notice(e *exchange, part []byte) (ended, drop bool) {
	if l.strayed {
		return false, e != nil && e.withhold
	}
	if l.skip > 0 {
		l.skip -= int64(len(part))
		return false, l.muffled
	}
	kind := part[0]
	length, _ := bodyLen(part)
	body := part[headerLen:]
	if rest := length - int64(len(body)); rest > 0 {
		l.skip, body = rest, nil
	}
	if kind == 'K' || kind == 'S' {
		l.identify(kind, body)
	}
	if e == nil {
		return false, false
	}
	l.muffled = e.withhold
	if e.mute {
		return false, true
	}
	if matters(kind) {
		ended = e.hear(kind, body)
	}
	return ended, e.withhold && (!ended || e.instead == nil || e.swallow)
}

// matters tells the messages that say how a step goes, or who the session is.
func matters(kind byte) bool {
	switch kind {
	case '1', '2', '3', 'n', 'T', 'I', 's', 'C', 'E', 'Z', 'G', 'K', 'S':
		return true
	}
	return false
}

// conclude ends an exchange whose last message is the end of rest. The controller
// hears of it before the client can; the connection's next step comes after both.
func (l *ear) conclude(e *exchange, rest []byte) error {
	if e.withhold && e.instead == nil {
		l.cut(e)
		return errCut
	}
	if e.outcome.End == Lost {
		e.outcome.End = Answered
	}
	e.tell()
	if err := l.pass(append(e.instead, rest...), false); err != nil {
		return err
	}
	l.current.Store(nil)
	close(e.done)
	return nil
}

// pass writes to the client. open says that the bytes end inside a message.
func (l *ear) pass(p []byte, open bool) error {
	if len(p) > 0 {
		if !l.holding {
			l.turn.Lock()
			l.holding = true
		}
		if err := l.write(p); err != nil {
			return err
		}
	}
	if !open {
		l.release()
	}
	return nil
}

func (l *ear) release() {
	if l.holding {
		l.holding = false
		l.turn.Unlock()
	}
}

// say writes a message of the proxy's own, between two of the database's.
func (l *ear) say(p []byte) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	return l.write(p)
}

// keyData reads a BackendKeyData message.
func keyData(body []byte) (pid uint32, ok bool) {
	var m pgproto3.BackendKeyData
	if m.Decode(body) != nil {
		return 0, false
	}
	return m.ProcessID, true
}
