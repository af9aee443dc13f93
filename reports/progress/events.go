package progress

import "time"

// Kind says what an Event tells of.
type Kind string

// The kinds of event, in the order in which a phase brings them.
const (
	Begun   Kind = "phase"
	Updated Kind = "progress"
	Ended   Kind = "phase-end"
)

// Event is one thing that a display would show, as data for other programs.
type Event struct {
	Kind  Kind
	Name  string
	Done  int64
	Total int64 // 0 where it is not known
	Took  time.Duration
}

// events passes everything on; the function that takes it is called by one goroutine at a time.
type events struct {
	to      func(Event)
	now     func() time.Time
	name    string
	total   int64
	started time.Time
}

func (e *events) begin(name string, total int64) {
	e.name, e.total, e.started = name, max(0, total), e.now()
	e.tell(Begun, 0)
}

func (e *events) update(done int64) { e.tell(Updated, done) }

func (e *events) end(done int64) { e.tell(Ended, done) }

func (e *events) close() {}

func (e *events) tell(kind Kind, done int64) {
	e.to(Event{Kind: kind, Name: e.name, Done: done, Total: e.total, Took: e.now().Sub(e.started)})
}
