package history

import (
	"encoding/json"
	"errors"
	"sync"
	"time"
)

const (
	chunkSize  = 32 << 10               // a recorder hands its lines over when it has this many bytes
	chunkQueue = 64                     // chunks waiting for compression; past that recorders wait
	flushEvery = 500 * time.Millisecond // about the most that a crash can lose
)

// errClosed is what recording after Close comes to.
var errClosed = errors.New("history is closed")

// Writer writes a history file while the run goes on. Its methods are safe for concurrent use; memory is bounded by the number of
// recorders, not by the length of the run.
//
// Lines of one recorder keep their order; lines of different recorders interleave in any order.
type Writer struct {
	chunks chan chunk
	done   chan error // the result of the one goroutine that compresses
	own    *Recorder

	mu        sync.Mutex
	recorders []*Recorder
	closed    bool
	result    error
	late      error // something was recorded after Close, or could not be encoded
}

// chunk is a run of whole lines on its way to compression.
type chunk struct {
	b     []byte
	lines int64
}

// Create starts a history file, replacing one of that name. The file is called path+Suffix until Close; after a crash it can be
// read up to a moment before it.
func Create(path string) (*Writer, error) {
	f, err := createFrame(path, kindHistory)
	if err != nil {
		return nil, err
	}
	w := &Writer{chunks: make(chan chunk, chunkQueue), done: make(chan error, 1)}
	w.own = w.Recorder()
	go w.compress(f)
	return w, nil
}

// Recorder returns a recorder for one goroutine.
func (w *Writer) Recorder() *Recorder {
	r := &Recorder{w: w, buf: newBuffer()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recorders = append(w.recorders, r)
	r.closed = w.closed
	return r
}

// Fault records a fault's beginning or healing, at once readable by others after the next flush.
func (w *Writer) Fault(f Fault) { w.event(Event{Fault: &f}) }

// Note records a remark on the time axis.
func (w *Writer) Note(n Note) { w.event(Event{Note: &n}) }

func (w *Writer) event(e Event) {
	line, err := json.Marshal(e)
	if err != nil {
		w.fail(err)
		return
	}
	w.own.add(func(b []byte) []byte { return append(b, line...) })
}

// Close writes what is left and gives the file its name. It returns the first error of the whole recording; the file then keeps its
// provisional name. Recording must have ended: a later line is lost, and a second Close reports it.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		for _, r := range w.recorders {
			r.close()
		}
		close(w.chunks)
		w.result = <-w.done
	}
	return errors.Join(w.result, w.late)
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.late == nil {
		w.late = err
	}
}

// compress is the only goroutine that touches the file. After an error it keeps draining, so that no recorder waits for ever.
func (w *Writer) compress(f *frame) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case c, ok := <-w.chunks:
			if !ok {
				w.done <- f.close()
				return
			}
			f.take(c)
		case <-tick.C:
			w.sweep(f)
		}
	}
}

// sweep collects what recorders hold and makes it readable.
func (w *Writer) sweep(f *frame) {
	if !w.mu.TryLock() {
		return // Close holds it and hands everything over itself
	}
	recorders := w.recorders
	w.mu.Unlock()
	for _, r := range recorders {
		w.sweepOne(f, r)
	}
	f.flush()
}

// sweepOne takes what one recorder holds. A recorder that is busy, perhaps waiting for this very goroutine to take its chunk, is left to
// the next sweep. While it is locked its chunks in the queue go first, so that its lines keep their order.
func (w *Writer) sweepOne(f *frame, r *Recorder) {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	if r.closed || r.lines == 0 {
		return
	}
	for len(w.chunks) > 0 {
		f.take(<-w.chunks)
	}
	f.write(r.buf, r.lines)
	r.buf, r.lines = r.buf[:0], 0
}

func (f *frame) take(c chunk) {
	f.write(c.b, c.lines)
	b := c.b[:0]
	buffers.Put(&b)
}

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, chunkSize+chunkSize/4)
	return &b
}}

func newBuffer() []byte { return (*buffers.Get().(*[]byte))[:0] }

// Recorder takes the attempts of one goroutine.
type Recorder struct {
	w *Writer

	mu     sync.Mutex // contended only by the sweep, which never waits for it
	buf    []byte
	lines  int64
	closed bool
}

// Attempt records a. It keeps no reference to it. It blocks only when compression is behind by many chunks.
func (r *Recorder) Attempt(a *Attempt) {
	r.add(func(b []byte) []byte { return appendAttemptEvent(b, a) })
}

func (r *Recorder) add(line func([]byte) []byte) {
	if !r.tryAdd(line) {
		r.w.fail(errClosed)
	}
}

func (r *Recorder) tryAdd(line func([]byte) []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.buf = append(line(r.buf), '\n')
	r.lines++
	if len(r.buf) >= chunkSize {
		r.handOver()
	}
	return true
}

func (r *Recorder) handOver() {
	r.w.chunks <- chunk{b: r.buf, lines: r.lines}
	r.buf, r.lines = newBuffer(), 0
}

func (r *Recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.lines > 0 {
		r.handOver()
	}
}
