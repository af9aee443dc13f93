package history

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
)

// Read yields the events of a history file, or of path+Suffix when the run that wrote it never finished. Damage ends it with one last pair whose
// error wraps ErrTruncated or ErrCorrupt (or says that there is no such file), after everything that could be read.
// Events are the caller's to keep.
func Read(path string) iter.Seq2[Event, error] {
	return decoded(path, kindHistory, decodeEvent)
}

// Scan is Read for who keeps nothing: an event is valid until the next one is asked for, its attempt and the body of that included. It decodes ahead.
func Scan(path string) iter.Seq2[Event, error] {
	return scanned(path, kindHistory, decodeEvent)
}

// ScanOperations is ReadOperations for who keeps nothing: an operation's Keys and Body are valid until the next one is asked for.
func ScanOperations(path string) iter.Seq2[Operation, error] {
	return scanned(path, kindOperations, decodeOperation)
}

// ReadOperations yields the operations of a plan file, with the same promises as Read.
func ReadOperations(path string) iter.Seq2[Operation, error] {
	return decoded(path, kindOperations, decodeOperation)
}

// WriteOperations writes a plan file, replacing one of that name. Memory does not grow with the plan.
func WriteOperations(path string, ops iter.Seq[Operation]) error {
	f, err := createFrame(path, kindOperations)
	if err != nil {
		return err
	}
	buf := make([]byte, 0, 2*chunkSize)
	n := int64(0)
	for o := range ops {
		buf = append(AppendOperation(buf, &o), '\n')
		if n++; len(buf) >= chunkSize {
			f.write(buf, n)
			buf, n = buf[:0], 0
		}
		if f.err != nil {
			break
		}
	}
	f.write(buf, n)
	return f.close()
}

func decoded[T any](path, kind string, decode func(*scanner) (T, error)) iter.Seq2[T, error] {
	return decodedWith(path, kind, decode, func() *kept { return nil })
}

// decodedWith asks before each line what it may use again.
func decodedWith[T any](path, kind string, decode func(*scanner) (T, error), keep func() *kept) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		var s scanner
		n := 0
		for line, err := range readFrame(path, kind) {
			if err != nil {
				yield(zero, err)
				return
			}
			n++
			s = scanner{b: line, scratch: s.scratch, kept: keep()}
			v, err := decode(&s)
			if err != nil {
				yield(zero, fmt.Errorf("read %s: line %d: %w: %w", path, n+1, ErrCorrupt, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

func decodeEvent(s *scanner) (Event, error) {
	if a, ok := scanAttemptEvent(s); ok {
		return Event{Attempt: a}, nil
	}
	var e Event
	if err := json.Unmarshal(s.b, &e); err != nil {
		return Event{}, err
	}
	return e, e.check()
}

func (e Event) check() error {
	n := 0
	for _, set := range []bool{e.Attempt != nil, e.Fault != nil, e.Note != nil} {
		if set {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("an event holds %d facts, not one", n)
	}
	return nil
}

func scanAttemptEvent(s *scanner) (*Attempt, bool) {
	const start = `{"attempt":`
	if !bytes.HasPrefix(s.b, []byte(start)) {
		return nil, false
	}
	s.i = len(start)
	a := s.newAttempt()
	s.attempt(a)
	s.eat("}")
	return a, s.end()
}

func (s *scanner) newAttempt() *Attempt {
	if s.kept == nil {
		return new(Attempt)
	}
	return s.kept.newAttempt()
}

// bytes are a copy of v that lives as long as what is decoded does.
func (s *scanner) bytes(v []byte) []byte {
	if s.kept == nil {
		return bytes.Clone(v)
	}
	from := len(s.kept.bytes)
	s.kept.bytes = append(s.kept.bytes, v...)
	return s.kept.since(from)
}

func (s *scanner) attempt(a *Attempt) {
	s.object(func(name []byte) {
		switch string(name) {
		case "op":
			a.Op = s.int64()
		case "n":
			a.N = s.int()
		case "replica":
			a.Replica = s.int()
		case "intended_ns":
			a.IntendedNS = s.int64()
		case "sent_ns":
			a.SentNS = s.int64()
		case "done_ns":
			a.DoneNS = s.int64()
		case "last_byte_ns":
			a.LastByteNS = s.int64()
		case "outcome":
			a.Outcome = Outcome(s.word(string(Returned), string(Lost), string(Unsent), string(Cut)))
		case "cause":
			a.Cause = s.word(CauseTimeout, CauseGaveUp, CauseReset, CauseRefused, CauseInterrupted, CauseOther)
		case "bytes_sent":
			a.BytesSent = s.int()
		case "status":
			a.Status = s.int()
		case "marked":
			a.Marked = s.flag()
		case "retry_after":
			a.RetryAfter = s.word("5", "1")
		case "body":
			a.Body = s.bytes(s.raw())
		case "settle":
			a.Settle = s.flag()
		default: // body_b64 among them: rare
			s.fail()
		}
	})
}

// plainAttempt is an Attempt as encoding/json sees it by itself, with the body's two spellings beside it.
type plainAttempt Attempt

type attemptFile struct {
	*plainAttempt
	Body    *string `json:"body,omitempty"`
	BodyB64 []byte  `json:"body_b64,omitempty"`
}

// MarshalJSON writes the form that history files hold, so that an attempt reads the same in every file.
func (a Attempt) MarshalJSON() ([]byte, error) { return appendAttempt(nil, &a), nil }

// UnmarshalJSON reads the form that MarshalJSON writes.
func (a *Attempt) UnmarshalJSON(b []byte) error {
	*a = Attempt{}
	file := attemptFile{plainAttempt: (*plainAttempt)(a)}
	if err := json.Unmarshal(b, &file); err != nil {
		return err
	}
	switch {
	case file.BodyB64 != nil:
		a.Body = file.BodyB64
	case file.Body != nil:
		a.Body = []byte(*file.Body)
	}
	return nil
}

func decodeOperation(s *scanner) (Operation, error) {
	o := s.newOperation()
	if s.operation(o); s.end() {
		return *o, nil
	}
	*o = Operation{}
	err := json.Unmarshal(s.b, o)
	return *o, err
}

func (s *scanner) newOperation() *Operation {
	if s.kept == nil {
		return new(Operation)
	}
	s.kept.operation = Operation{}
	return &s.kept.operation
}

func (s *scanner) operation(o *Operation) {
	ints := func(name string) *int64 {
		switch name {
		case "id":
			return &o.ID
		case "due_ns":
			return &o.DueNS
		case "group":
			return &o.Group
		case "after":
			return &o.After
		case "user":
			return &o.User
		case "deadline_ns":
			return &o.DeadlineNS
		case "give_up_ns":
			return &o.GiveUpNS
		case "cut_body":
			return &o.CutBody
		case "slow_ns":
			return &o.SlowNS
		}
		return nil
	}
	s.object(func(name []byte) {
		if p := ints(string(name)); p != nil {
			*p = s.int64()
			return
		}
		s.operationText(o, string(name))
	})
}

func (s *scanner) operationText(o *Operation, name string) {
	switch name {
	case "phase":
		o.Phase = s.text()
	case "client":
		o.Client = s.int()
	case "route":
		o.Route = s.word("order", "close", "roll", "checkout", "account")
	case "method":
		o.Method = s.word("POST", "PATCH", "DELETE")
	case "path":
		o.Path = s.word("/api/trading/orders", "/api/billing/checkout")
	case "keys":
		o.Keys = s.texts()
	case "key":
		o.Key = s.text()
	case "request":
		o.Request = s.text()
	case "spelling":
		o.Spelling = s.text()
	case "content_type":
		o.ContentType = s.word("application/json")
	case "body":
		o.Body = s.base64()
	case "replica":
		o.Replica = s.int()
	case "twin":
		o.Twin = s.flag()
	case "retry":
		o.Retry = s.text()
	case "once":
		o.Once = s.flag()
	case "token":
		o.Token = s.text()
	default:
		s.fail()
	}
}

func (s *scanner) texts() (vs []string) {
	from := 0
	if s.kept != nil {
		vs, from = s.kept.keys, len(s.kept.keys)
	}
	s.eat("[")
	for !s.bad {
		vs = append(vs, s.text())
		if s.peek() == ']' {
			s.i++
			if s.kept != nil {
				s.kept.keys = vs
			}
			return vs[from:len(vs):len(vs)]
		}
		s.eat(",")
	}
	return nil
}

func (s *scanner) base64() []byte {
	into, from := []byte(nil), 0
	if s.kept != nil {
		into, from = s.kept.bytes, len(s.kept.bytes)
	}
	v, err := base64.StdEncoding.AppendDecode(into, s.raw())
	if err != nil {
		s.fail()
		return nil
	}
	if s.kept != nil {
		s.kept.bytes = v
	}
	return v[from:len(v):len(v)]
}
