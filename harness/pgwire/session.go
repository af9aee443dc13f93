package pgwire

import (
	"bufio"
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// pipelineDepth bounds how many items of a client are read ahead of the one
// that is being decided, so that a client's end is seen while its step is held.
const pipelineDepth = 16

// session is a connection whose protocol is followed. Three goroutines share
// it: one reads the client, one reads the database (the ear), and the connection's
// own takes one step after another. At most one step is with the database.
type session struct {
	conn    *conn
	ear     *ear
	decoder *decoder
	items   chan item
	who     atomic.Pointer[Conn]
	ctx     context.Context // ends with the client
	gone    context.CancelFunc
	// cancelHeld ends the context of the step that is being decided, if any.
	cancelHeld atomic.Pointer[context.CancelCauseFunc]

	// What follows belongs to the goroutine that takes the steps.
	current  *exchange // with the database
	splitOf  *Step     // its Sync is to be decided on next
	waiting  *item     // the item after that
	over     bool
	seq      int
	tx       byte
	dirty    bool // forwarded something that no Sync has ended yet
	skipping bool // the database ignores everything up to a Sync
	ignoring bool // the proxy does, having injected an error before the Sync
}

func newSession(c *conn, first startup) *session {
	s := &session{
		conn: c, decoder: newDecoder(c.proxy.opts.Params),
		items: make(chan item, pipelineDepth), tx: 'I',
	}
	s.ctx, s.gone = context.WithCancel(c.ctx)
	s.who.Store(&Conn{
		ID: c.id, User: first.params["user"], Database: databaseOf(first.params),
		Application: first.params["application_name"],
	})
	s.ear = &ear{identify: s.identify, cut: s.cutWithheld, write: func(p []byte) error {
		_, err := c.down.Write(p)
		return err
	}}
	startup := newExchange(nil, nil)
	startup.ready.Store(true)
	s.expect(startup)
	return s
}

// databaseOf applies PostgreSQL's default.
func databaseOf(params map[string]string) string {
	if name := params["database"]; name != "" {
		return name
	}
	return params["user"]
}

// run returns when the connection is over and every step was reported.
func (s *session) run(client *bufio.Reader) {
	defer s.gone()
	var readers sync.WaitGroup
	readers.Go(func() { s.read(client) })
	readers.Go(s.listen)
	s.takeSteps()
	readers.Wait()
	if e := s.ear.current.Load(); e != nil {
		e.tell()
	}
}

func (s *session) read(client *bufio.Reader) {
	a := assembler{r: client}
	for {
		it := a.next()
		if it.end != nil {
			s.gone()
		}
		select {
		case s.items <- it:
		case <-s.conn.ctx.Done():
			return
		}
		if it.end != nil {
			return
		}
	}
}

func (s *session) listen() {
	err := s.ear.run(s.conn.server)
	s.ear.turn.Lock()
	defer s.ear.turn.Unlock()
	s.conn.down.finish(err)
}

func (s *session) identify(kind byte, body []byte) {
	who := *s.who.Load()
	switch kind {
	case 'K':
		if pid, ok := keyData(body); ok {
			who.PID = pid
		}
	case 'S':
		var m pgproto3.ParameterStatus
		if m.Decode(body) != nil || m.Name != "application_name" {
			return
		}
		who.Application = m.Value
	}
	s.who.Store(&who)
}

// canceled is called when a CancelRequest for this session has passed. One that
// meets no held step is the database's affair alone.
func (s *session) canceled() {
	if cancel := s.cancelHeld.Load(); cancel != nil {
		(*cancel)(ErrCanceled)
	}
}

func (s *session) cutWithheld(e *exchange) {
	e.outcome.End = Withheld
	if e.copyIn.Load() {
		e.outcome.End = InFlight
	}
	s.conn.proxy.count.droppedReply.Add(1)
	e.tell()
	s.conn.end(endReset)
}

// takeSteps passes a client's items on in their order, a step only when the
// one before it is answered.
func (s *session) takeSteps() {
	for !s.over {
		if s.current == nil && s.proceed() {
			continue
		}
		var items <-chan item
		if s.waiting == nil {
			items = s.items
		}
		var done <-chan struct{}
		if s.current != nil {
			done = s.current.done
		}
		select {
		case it := <-items:
			s.take(it)
		case <-done:
			s.settle()
		case <-s.conn.ctx.Done():
			return
		}
	}
}

// proceed takes what has waited for the current step to end, if there is any.
func (s *session) proceed() bool {
	switch {
	case s.splitOf != nil:
		of := s.splitOf
		s.splitOf = nil
		s.decide(&Step{Kind: Sync, Of: of}, &decoded{kind: Sync}, syncBytes)
	case s.waiting != nil:
		it := *s.waiting
		s.waiting = nil
		if it.step {
			s.step(it.bytes)
		} else {
			s.pass(it)
		}
	default:
		return false
	}
	return true
}

func (s *session) take(it item) {
	switch {
	case it.loneSync() && s.current != nil && s.current.owesSync.Load():
		s.syncDuringCopy(it)
	case it.step, it.end != nil && s.splitOf != nil:
		s.waiting = &it
	default:
		s.pass(it)
	}
}

// syncDuringCopy passes the Sync that follows COPY data. The database has ignored
// the one before the data, as the protocol demands; a Sync split off from it
// has no meaning any more.
func (s *session) syncDuringCopy(it item) {
	s.splitOf = nil
	s.current.ready.Store(true)
	s.current.owesSync.Store(false)
	s.send(it.bytes)
}

// pass forwards what belongs to no step.
func (s *session) pass(it item) {
	if it.strayed {
		s.conn.proxy.count.strayed.Add(1)
	}
	if len(it.bytes) > 0 {
		s.send(it.bytes)
	}
	if it.end != nil {
		s.over = true
		s.conn.up.finish(it.end)
	}
}

// send writes to the database. A failure ends the connection, which is where
// it is noticed.
func (s *session) send(p []byte) { _, _ = s.conn.up.Write(p) }

func (s *session) expect(e *exchange) {
	s.current = e
	s.ear.current.Store(e)
}

// settle draws the conclusions from a step that was answered.
func (s *session) settle() {
	e := s.current
	s.current = nil
	e.settle()
	s.conn.busy.Store(true)
	if !e.ready.Load() {
		s.skipping = s.skipping || e.outcome.Code != ""
		return
	}
	s.tx, s.dirty, s.skipping = e.outcome.TxStatus, false, false
	if s.tx == 'I' {
		s.decoder.transactionEnded()
	}
}
