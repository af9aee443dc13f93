package pgcluster

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// tailSize is how much of the server's log is kept for errors, in bytes.
const tailSize = 4096

// tail keeps the end of the server's log and passes all of it on.
type tail struct {
	onward io.Writer // may be nil

	mu   sync.Mutex
	kept []byte
}

func newTail(onward io.Writer) *tail { return &tail{onward: onward} }

// Write never fails: a log that cannot be passed on must not stop the server.
func (t *tail) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, line...)
	if excess := len(t.kept) - tailSize; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	if t.onward != nil {
		_, _ = t.onward.Write(line)
	}
	return len(line), nil
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = t.kept[:0]
}

// quoted is the kept log, ready to end an error message.
func (t *tail) quoted() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.kept))
	if text == "" {
		return ""
	}
	return "\nend of its log:\n  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// portTaken reports whether the log says that the port was somebody else's. The
// server's messages are English, since its locale is C.
func (t *tail) portTaken() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(t.kept, []byte("could not create any TCP/IP sockets"))
}
