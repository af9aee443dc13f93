package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/pile"
)

// stream reads an evidence file row by row. A long run leaves hundreds of megabytes of them, which encoding/json takes several times the memory and
// the time for. It knows the form that Save writes, and gives up at the first surprise: then encoding/json decides what the file means.
type stream struct {
	r    *bufio.Reader
	flat flat // the row at hand
	keep *keeper
	pack *Replays // takes the replays; nil: the set does
}

// readStream is ok only if it understood everything. With pack the set has no replays but, if there are any, an empty list.
func readStream(r io.Reader, pack *Replays) (set Set, ok bool) {
	s := &stream{r: bufio.NewReaderSize(r, 1<<20), keep: newKeeper(), pack: pack}
	return set, s.set(&set)
}

func (s *stream) set(set *Set) bool {
	seen := map[string]bool{}
	for open := byte('{'); ; open = ',' {
		if !s.is(open) {
			return false
		}
		name, ok := s.next()
		var member string
		if !ok || json.Unmarshal(name, &member) != nil || seen[member] || !s.is(':') || !s.member(set, member) {
			return false
		}
		seen[member] = true
		if s.is('}') {
			return true
		}
	}
}

// member reads one member of the set.
func (s *stream) member(set *Set, name string) bool {
	switch name {
	case "orders":
		return rows(s, &set.Orders, orderFields)
	case "audits":
		return rows(s, &set.Audits, auditFields)
	case "replays":
		if s.pack != nil {
			return s.replays(set)
		}
		return rows(s, &set.Replays, auditFields)
	case "records":
		return rows(s, &set.Records, recordFields)
	}
	value, ok := s.next()
	if !ok || s.pack != nil && strings.EqualFold(name, "replays") { // which encoding/json takes for the same
		return false
	}
	one := slices.Concat([]byte(`{"`), []byte(name), []byte(`":`), value, []byte("}"))
	return json.Unmarshal(one, set) == nil
}

// rows reads an array of flat objects, each by row, or by encoding/json where row gives up.
func rows[T any](s *stream, into *[]T, row func(*flat, *T)) bool {
	var list pile.Of[T]
	var v *T // the one being read
	read := func(f *flat) {
		*v = *new(T)
		row(f, v)
	}
	whole, ok := s.array(into, func() bool {
		v = list.Next()
		return s.object(v, read)
	})
	if whole {
		*into = list.Flat()
	}
	return ok
}

// replays packs an array of audit rows.
func (s *stream) replays(set *Set) bool {
	var slow Audit
	var raw rawAudit
	read := func(f *flat) {
		raw = rawAudit{}
		rawAuditFields(f, &raw)
	}
	whole, ok := s.array(&set.Replays, func() bool {
		ok := s.object(&slow, read)
		if s.flat.bad {
			raw = slow.raw()
			slow = Audit{}
		}
		s.pack.add(&raw)
		return ok
	})
	s.pack.done()
	if whole {
		set.Replays = []Audit{}
	}
	return ok
}

// array calls item before each item. What is no array is encoding/json's, and not read.
func (s *stream) array(into any, item func() bool) (read, ok bool) {
	if !s.is('[') { // null
		value, ok := s.next()
		return false, ok && json.Unmarshal(value, into) == nil
	}
	for n := 0; !s.is(']'); n++ {
		if n > 0 && !s.is(',') || !item() {
			return false, false
		}
	}
	return true, true
}

// rowAhead is how far a row is looked for in the buffer before its end is known: as a rule it is there.
const rowAhead = 4 << 10

// object reads one object by read, or into v by encoding/json where that gives up: the flat is bad then. What read takes from the flat is valid until
// the next call.
func (s *stream) object(v any, read func(*flat)) bool {
	ahead, _ := s.r.Peek(rowAhead) // near the end there is less
	s.flat = flat{b: ahead, keep: s.keep}
	if read(&s.flat); !s.flat.bad {
		_, err := s.r.Discard(s.flat.i)
		return err == nil
	}
	value, ok := s.next()
	if !ok {
		return false
	}
	s.flat = flat{b: value, keep: s.keep}
	if read(&s.flat); s.flat.whole() {
		return true
	}
	s.flat.bad = true
	return json.Unmarshal(value, v) == nil
}

// is takes the byte, white space before it too, if it is the next.
func (s *stream) is(want byte) bool {
	for {
		c, err := s.r.ReadByte()
		switch {
		case err != nil:
			return false
		case c == want:
			return true
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			continue
		}
		_ = s.r.UnreadByte() // it was just read
		return false
	}
}

// next takes one value as it stands, valid until the next call. A value that fits the buffer is not copied.
func (s *stream) next() ([]byte, bool) {
	for n := 4 << 10; ; n *= 2 {
		n = min(n, s.r.Size())
		ahead, err := s.r.Peek(n)
		if end := valueEnd(ahead); end > 0 {
			_, _ = s.r.Discard(end) // it is there
			return ahead[:end], true
		}
		if err != nil {
			return nil, false
		}
		if n == s.r.Size() {
			return s.long()
		}
	}
}

// long takes a value that is longer than the buffer.
func (s *stream) long() ([]byte, bool) {
	var value []byte
	for {
		ahead, err := s.r.Peek(max(1, s.r.Buffered()))
		if err != nil {
			return nil, false
		}
		from := len(value)
		value = append(value, ahead...)
		end := valueEnd(value)
		if end > 0 {
			_, _ = s.r.Discard(end - from)
			return value[:end], true
		}
		_, _ = s.r.Discard(len(ahead))
	}
}

// valueEnd is where the JSON value at the start of b ends, 0 if that is not in b. A number must be followed by something.
func valueEnd(b []byte) int {
	deep, start := 0, len(b)-len(bytes.TrimLeft(b, " \t\r\n"))
	for i := start; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			n := stringEnd(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			deep++
			continue
		case '}', ']':
			deep--
		default:
			if deep > 0 || i+1 == len(b) || !ends(b[i+1]) {
				continue
			}
		}
		if deep == 0 {
			return i + 1
		}
	}
	return 0
}

func ends(c byte) bool { return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' }

// stringEnd is the length of the string at the start of b, 0 if its end is not in b.
func stringEnd(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n
		back := i
		for b[back-1] == '\\' {
			back--
		}
		if i++; (i-1-back)%2 == 0 {
			return i
		}
	}
}
