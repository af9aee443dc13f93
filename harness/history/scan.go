package history

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/idemstorm/idemstorm/harness/plaintext"
)

// scanner reads the JSON that this package writes, and no other: at the first surprise it gives up (ok becomes false), and encoding/json
// decides what the line means. So it must accept only what encoding/json accepts, with the same values.
type scanner struct {
	b       []byte
	i       int
	bad     bool
	scratch []byte
	kept    *kept // nil: everything read is new
}

func (s *scanner) fail() { s.bad = true }

// eat takes the literal text want.
func (s *scanner) eat(want string) bool {
	if s.bad || !bytes.HasPrefix(s.b[s.i:], []byte(want)) {
		s.fail()
		return false
	}
	s.i += len(want)
	return true
}

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// object calls member for each member of an object, with the scanner before its value.
func (s *scanner) object(member func(name []byte)) {
	if !s.eat("{") {
		return
	}
	for !s.bad {
		if !s.eat(`"`) {
			return
		}
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			s.fail()
			return
		}
		name := s.b[s.i : s.i+n]
		s.i += n + 1
		s.eat(":")
		member(name)
		if s.peek() == '}' {
			s.i++
			return
		}
		s.eat(",")
	}
}

func (s *scanner) int64() int64 {
	start := s.i
	if s.peek() == '-' {
		s.i++
	}
	var v int64
	first := s.i
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		v = v*10 + int64(c-'0')
		s.i++
	}
	digits := s.i - first
	if digits == 0 || digits > 18 || (digits > 1 && s.b[first] == '0') {
		s.fail()
	}
	if first > start {
		return -v
	}
	return v
}

func (s *scanner) int() int {
	v := s.int64()
	if v > math.MaxInt || v < math.MinInt {
		s.fail()
	}
	return int(v)
}

// flag reads true; false is never written.
func (s *scanner) flag() bool { return s.eat("true") }

// raw reads a string and returns its content, valid until the next call.
func (s *scanner) raw() []byte {
	if !s.eat(`"`) {
		return nil
	}
	start := s.i
	if n := bytes.IndexByte(s.b[start:], '"'); n >= 0 && plaintext.ASCII(s.b[start:start+n]) { // as a rule
		s.i += n + 1
		return s.b[start : start+n]
	}
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			v := s.b[start:s.i]
			s.i++
			return s.utf8(v)
		case c == '\\':
			return s.escaped(start)
		case c < ' ':
			s.fail()
			return nil
		}
		s.i++
	}
	s.fail()
	return nil
}

func (s *scanner) utf8(v []byte) []byte {
	if !utf8.Valid(v) {
		s.fail()
	}
	return v
}

// escaped continues raw at the first backslash.
func (s *scanner) escaped(start int) []byte {
	out := append(s.scratch[:0], s.b[start:s.i]...)
	defer func() { s.scratch = out }()
	for !s.bad && s.i < len(s.b) {
		n := plainRun(s.b[s.i:])
		out = append(out, s.b[s.i:s.i+n]...)
		s.i += n
		switch s.peek() {
		case '"':
			s.i++
			return s.utf8(out)
		case '\\':
			out = append(out, s.escape())
		default:
			s.fail()
		}
	}
	s.fail()
	return nil
}

func plainRun(b []byte) int {
	for i, c := range b {
		if c < utf8.RuneSelf && !plain[c] {
			return i
		}
	}
	return len(b)
}

// escape reads one of the escapes that appendEscape writes.
func (s *scanner) escape() byte {
	rest := s.b[s.i:]
	switch {
	case len(rest) >= 2 && (rest[1] == '"' || rest[1] == '\\'):
		s.i += 2
		return rest[1]
	case len(rest) >= 2 && rest[1] == 'n':
		s.i += 2
		return '\n'
	case len(rest) >= 6 && string(rest[1:4]) == "u00":
		hi, lo := strings.IndexByte(hexDigits, rest[4]), strings.IndexByte(hexDigits, rest[5])
		if hi >= 0 && hi < 8 && lo >= 0 {
			s.i += 6
			return byte(hi<<4 | lo)
		}
	}
	s.fail()
	return 0
}

// text reads a string into a new string.
func (s *scanner) text() string {
	v := s.raw()
	if s.kept != nil {
		return s.kept.keep(v)
	}
	return string(v)
}

// word reads a string that is likely one of known, without allocating in that case.
func (s *scanner) word(known ...string) string {
	v := s.raw()
	for _, k := range known {
		if string(v) == k {
			return k
		}
	}
	return string(v)
}

// end reports whether everything was understood and nothing is left.
func (s *scanner) end() bool { return !s.bad && s.i == len(s.b) }
