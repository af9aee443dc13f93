package pgwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	sslRequest    = 80877103
	gssEncRequest = 80877104
	cancelRequest = 80877102
	// maxStartup is PostgreSQL's own bound on a startup packet (bytes).
	maxStartup = 10000
	// minCancel is the length of the shortest CancelRequest (bytes).
	minCancel = 16
	// maxRefusals bounds how often a client may ask for encryption.
	maxRefusals = 4
)

// startup is a connection's first packet: its bytes, to be passed unchanged,
// and what it asks for.
type startup struct {
	raw    []byte
	cancel bool
	params map[string]string
}

// readStartup answers requests for encryption with a polite no, as a server
// without it does, and returns the packet that follows.
func readStartup(r *bufio.Reader, w io.Writer) (startup, error) {
	for range maxRefusals {
		raw, err := readStartupPacket(r)
		if err != nil {
			return startup{}, err
		}
		switch code := binary.BigEndian.Uint32(raw[4:]); code {
		case sslRequest, gssEncRequest:
			if _, err := w.Write([]byte{'N'}); err != nil {
				return startup{}, fmt.Errorf("refuse encryption: %w", err)
			}
		case cancelRequest:
			if len(raw) < minCancel {
				return startup{}, fmt.Errorf("cancel request of %d bytes", len(raw))
			}
			return startup{raw: raw, cancel: true}, nil
		default:
			return startup{raw: raw, params: startupParams(raw[4:])}, nil
		}
	}
	return startup{}, errors.New("client keeps asking for encryption")
}

func readStartupPacket(r *bufio.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, fmt.Errorf("read startup packet: %w", err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 8 || n > maxStartup {
		return nil, fmt.Errorf("startup packet of %d bytes", n)
	}
	raw := make([]byte, n)
	copy(raw, size[:])
	if _, err := io.ReadFull(r, raw[4:]); err != nil {
		return nil, fmt.Errorf("read startup packet: %w", err)
	}
	return raw, nil
}

// startupParams is empty for a packet that cannot be read: it is the
// database's part to refuse it.
func startupParams(body []byte) map[string]string {
	var m pgproto3.StartupMessage
	if err := m.Decode(body); err != nil {
		return map[string]string{}
	}
	return m.Parameters
}

// awaitOpen keeps a new connection waiting while the link hangs. It watches
// the client meanwhile: during a long outage clients give up and come again, and
// their abandoned connections must not pile up.
func (c *conn) awaitOpen(r *bufio.Reader) error {
	for {
		s := c.proxy.link.now.Load()
		if !s.up.Hold {
			return nil
		}
		healed := make(chan struct{})
		watching := make(chan struct{})
		c.proxy.wg.Go(func() {
			defer close(watching)
			select {
			case <-s.changed:
				_ = c.client.SetReadDeadline(time.Unix(1, 0))
			case <-c.ctx.Done():
			case <-healed:
			}
		})
		_, err := r.Peek(r.Size())
		close(healed)
		<-watching
		_ = c.client.SetReadDeadline(time.Time{})
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("client left while the link hung: %w", err)
		}
		if err == nil && !c.pause(time.Hour, s.changed) {
			return c.ctx.Err()
		}
	}
}
