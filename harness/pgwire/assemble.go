package pgwire

import (
	"bufio"
	"errors"
	"io"
)

// maxStep bounds what is kept of a step before it is forwarded (bytes). A
// connection that sends a larger one is passed on without being followed.
const maxStep = 256 << 20

// item is a piece of a client's stream: a whole step, or bytes that belong to none
// and pass at once (authentication, COPY data, Terminate).
type item struct {
	step  bool
	bytes []byte
	// strayed says that the stream cannot be followed from here on.
	strayed bool
	// end is the error that ended the stream; such an item is the last.
	end error
}

// loneSync tells a Sync without anything before it.
func (i item) loneSync() bool { return i.step && len(i.bytes) == headerLen && i.bytes[0] == 'S' }

// assembler cuts a client's stream into items. It keeps a copy of all it
// returns, grows with what arrives and never with what a header merely announces.
type assembler struct {
	r       *bufio.Reader
	step    []byte // the step so far
	stream  int64  // bytes still to pass of a message that is not kept
	strayed bool
}

// next returns the next item. An item with end set is followed by no other.
func (a *assembler) next() item {
	for {
		if a.strayed || a.stream > 0 {
			return a.chunk()
		}
		header, err := a.r.Peek(headerLen)
		if err != nil {
			return a.last(err)
		}
		length, ok := bodyLen(header)
		if !ok || int64(len(a.step))+length > maxStep {
			a.strayed = true
			return item{bytes: a.take(), strayed: true}
		}
		kind, size := header[0], length+headerLen
		if len(a.step) == 0 && !builds(kind) {
			a.stream = size
			continue
		}
		if err := a.keep(size); err != nil {
			return a.last(err)
		}
		if completes(kind) {
			return item{step: true, bytes: a.take()}
		}
		if !builds(kind) && !copies(kind) {
			return item{bytes: a.take()}
		}
	}
}

// builds tells the messages that steps are made of.
func builds(kind byte) bool {
	switch kind {
	case 'P', 'B', 'D', 'E', 'C', 'S', 'H', 'Q', 'F':
		return true
	}
	return false
}

func completes(kind byte) bool { return kind == 'S' || kind == 'Q' || kind == 'H' || kind == 'F' }

func copies(kind byte) bool { return kind == 'd' || kind == 'c' || kind == 'f' }

func (a *assembler) take() []byte {
	step := a.step
	a.step = nil
	return step
}

// chunk passes what is not kept, as it arrives.
func (a *assembler) chunk() item {
	want := int64(chunkSize)
	if !a.strayed {
		want = min(want, a.stream)
	}
	buf := make([]byte, min(want, int64(max(a.r.Buffered(), 512))))
	n, err := a.r.Read(buf)
	a.stream -= int64(n)
	if err != nil {
		return item{bytes: buf[:n], end: err}
	}
	return item{bytes: buf[:n]}
}

func (a *assembler) keep(size int64) error {
	for size > 0 {
		n := min(size, chunkSize)
		at := len(a.step)
		a.step = append(a.step, make([]byte, n)...)
		got, err := io.ReadFull(a.r, a.step[at:])
		if err != nil {
			a.step = a.step[:at+got]
			return err
		}
		size -= n
	}
	return nil
}

// last passes on what a client left behind unfinished: a database would have
// received it too.
func (a *assembler) last(err error) item {
	rest, _ := a.r.Peek(a.r.Buffered())
	bytes := append(a.take(), rest...)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return item{bytes: bytes, end: err}
}
