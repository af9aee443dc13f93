package pgwire

import (
	"context"
	"io"
)

// step decodes a step and puts it to the controller.
func (s *session) step(bytes []byte) {
	d := s.decoder.decode(bytes)
	if s.ignoring {
		s.ignore(d)
		return
	}
	s.decide(&Step{Kind: d.kind, Prepares: d.prepares, Executes: d.executes}, d, bytes)
}

// decide asks the controller, which may take its time, and acts on what it says.
func (s *session) decide(step *Step, d *decoded, bytes []byte) {
	s.seq++
	step.Seq, step.TxStatus, step.Conn = s.seq, s.tx, *s.who.Load()
	e := newExchange(step, s.conn.proxy.controlledBy())
	e.ops, e.extended = d.ops, d.kind != Query && d.kind != Call
	e.ready.Store(d.ready())
	var action Action
	if e.controller != nil {
		action = s.ask(e)
	}
	if action.Delay > 0 && !sleep(s.conn.ctx, action.Delay) {
		e.tell()
		return
	}
	if action.SplitSync && d.kind == Extended && len(d.executes) > 0 {
		bytes = append(bytes[:len(bytes)-headerLen:len(bytes)-headerLen], flushBytes...)
		e.ready.Store(false)
		if action.Verb == Forward {
			s.splitOf = step
		}
	}
	s.act(e, action, bytes)
}

// ask lets the controller take its time, within reach of a CancelRequest.
func (s *session) ask(e *exchange) Action {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.cancelHeld.Store(&cancel)
	defer s.cancelHeld.Store(nil)
	return e.controller.Decide(ctx, e.step)
}

func (s *session) act(e *exchange, action Action, bytes []byte) {
	switch action.Verb {
	case CutBefore:
		e.outcome.End = Unsent
		e.tell()
		s.conn.end(endReset)
	case CutAfter:
		e.withhold = true
		s.forward(e, bytes)
	case CutInFlight:
		e.withhold, e.mute = true, true
		s.forward(e, bytes)
		e.outcome.End = InFlight
		e.tell()
		s.conn.end(endReset)
	case Fail:
		s.fail(e, action.Code)
	default:
		s.forward(e, bytes)
	}
}

func (s *session) forward(e *exchange, bytes []byte) {
	if e.step != nil {
		s.conn.proxy.count.statements.Add(int64(len(e.step.Executes)))
	}
	if e.ready.Load() || len(e.ops) > 0 && !s.skipping {
		s.dirty = !e.ready.Load()
		s.expect(e)
		s.send(bytes)
		return
	}
	// Nothing will be answered: a bare Flush, or what the database ignores.
	s.send(bytes)
	e.settle()
	if e.withhold && !e.mute {
		s.cutWithheld(e)
	} else if !e.mute {
		e.outcome.End = Answered
		e.tell()
	}
}

// fail answers a step in the database's stead. Where a transaction is open, or
// statements wait for their Sync, the database is made to fail first, and its
// own word on the transaction's status is what the client gets.
func (s *session) fail(e *exchange, code string) {
	e.settle()
	e.ops = nil
	code, r := refusalFor(code)
	e.outcome = Outcome{End: Injected, Code: code, Message: r.message}
	s.conn.proxy.count.injected.Add(1)
	message := r.encode(code)
	flushed := e.step.Kind == Flushed
	switch {
	case r.fatal:
		s.dismiss(e, message)
	case s.tx != 'I' || s.dirty:
		e.withhold, e.instead, e.swallow = true, message, flushed
		e.ready.Store(true)
		s.ignoring = flushed
		s.expect(e)
		s.send(abort)
	default:
		s.ignoring = flushed
		if !flushed {
			e.outcome.TxStatus = 'I'
			message = append(message, readyBytes('I')...)
		}
		e.tell()
		_ = s.ear.say(message) // a client that is gone ends the connection by itself
	}
}

// dismiss ends the session as a terminated backend does: the error, then the end.
func (s *session) dismiss(e *exchange, message []byte) {
	e.tell()
	s.over = true
	_ = s.ear.say(message)
	s.ear.turn.Lock()
	defer s.ear.turn.Unlock()
	s.conn.down.finish(io.EOF)
}

// ignore drops what a client sent behind a Flush that was answered with an
// injected error, and lets the Sync that ends it through, as a database does.
func (s *session) ignore(d *decoded) {
	dropped := &exchange{ops: d.ops}
	dropped.settle()
	if d.kind != Extended && d.kind != Sync {
		return
	}
	s.ignoring = false
	e := newExchange(nil, nil)
	e.ready.Store(true)
	s.expect(e)
	s.send(syncBytes)
}
