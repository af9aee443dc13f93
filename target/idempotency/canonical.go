package idempotency

import (
	"encoding/json"
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// canonicalJSON writes a JSON text in one spelling: keys sorted at every depth, no white space, strings unescaped and
// escaped again in one way, arrays in their order, numbers as written (contract section 5). It reports false for what is
// not one JSON text in valid UTF-8. Repeated keys stay, in their order: servers disagree on which of them counts.
func canonicalJSON(body []byte) ([]byte, bool) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, false
	}
	s := &spelling{in: body}
	return s.value(make([]byte, 0, len(body))), true
}

// spelling walks a JSON text that is known to be valid; nesting is bounded by json.Valid.
type spelling struct {
	in  []byte
	pos int
}

func (s *spelling) next() byte {
	for {
		switch c := s.in[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
}

func (s *spelling) value(out []byte) []byte {
	switch s.next() {
	case '{':
		return s.object(out)
	case '[':
		return s.array(out)
	case '"':
		return appendString(out, s.text())
	default:
		return s.literal(out)
	}
}

func (s *spelling) literal(out []byte) []byte {
	start := s.pos
	for s.pos < len(s.in) {
		switch s.in[s.pos] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return append(out, s.in[start:s.pos]...)
		}
		s.pos++
	}
	return append(out, s.in[start:]...)
}

func (s *spelling) array(out []byte) []byte {
	s.pos++
	out = append(out, '[')
	for first := true; s.next() != ']'; first = false {
		if !first {
			s.pos++ // the comma
			out = append(out, ',')
		}
		out = s.value(out)
	}
	s.pos++
	return append(out, ']')
}

func (s *spelling) object(out []byte) []byte {
	type member struct{ key, value []byte }
	var members []member
	s.pos++
	for s.next() != '}' {
		if len(members) > 0 {
			s.pos++ // the comma
			s.next()
		}
		key := s.text()
		s.next()
		s.pos++ // the colon
		members = append(members, member{key, s.value(nil)})
	}
	s.pos++
	sort.SliceStable(members, func(i, j int) bool { return string(members[i].key) < string(members[j].key) })
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, m.key), ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// text reads one string and returns it unescaped. A lone surrogate is kept as its three bytes, which valid UTF-8
// never has, so that it equals nothing but itself.
func (s *spelling) text() []byte {
	var out []byte
	for s.pos++; s.in[s.pos] != '"'; {
		if s.in[s.pos] != '\\' {
			out = append(out, s.in[s.pos])
			s.pos++
			continue
		}
		out = s.escape(out)
	}
	s.pos++
	return out
}

var shortEscapes = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *spelling) escape(out []byte) []byte {
	c := s.in[s.pos+1]
	if c != 'u' {
		s.pos += 2
		if short, ok := shortEscapes[c]; ok {
			c = short
		}
		return append(out, c)
	}
	r := s.hex()
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r)
	}
	if s.in[s.pos] == '\\' && s.in[s.pos+1] == 'u' {
		mark := s.pos
		if pair := utf16.DecodeRune(r, s.hex()); pair != utf8.RuneError {
			return utf8.AppendRune(out, pair)
		}
		s.pos = mark
	}
	return append(out, 0xE0|byte(r>>12), 0x80|(byte(r>>6)&0x3F), 0x80|(byte(r)&0x3F))
}

func (s *spelling) hex() rune {
	n, _ := strconv.ParseUint(string(s.in[s.pos+2:s.pos+6]), 16, 32) // json.Valid saw the four digits
	s.pos += 6
	return rune(n)
}

func appendString(out, text []byte) []byte {
	out = append(out, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20:
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xF])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
