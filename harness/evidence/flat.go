package evidence

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// flat reads one flat object of strings and integers. It gives up at whatever Save does not write: it must accept only what encoding/json accepts,
// with the same values.
type flat struct {
	b    []byte
	i    int
	bad  bool
	keep *keeper
}

// whole says whether everything was understood, and nothing is left.
func (f *flat) whole() bool { return !f.bad && f.i == len(f.b) }

// each calls member for each member, before its value.
func (f *flat) each(member func(name []byte)) {
	for open := byte('{'); !f.bad; open = ',' {
		if f.i == 0 || f.peek() != '}' {
			f.eat(open)
			name := f.raw()
			f.eat(':')
			if !f.bad {
				member(name)
			}
			continue
		}
		f.i++
		return
	}
}

func (f *flat) peek() byte {
	if f.i < len(f.b) {
		return f.b[f.i]
	}
	return 0
}

func (f *flat) eat(c byte) {
	if f.peek() != c {
		f.bad = true
		return
	}
	f.i++
}

// raw is a string's content as it stands, without escapes.
func (f *flat) raw() []byte {
	rest := f.b[min(f.i, len(f.b)):]
	if len(rest) == 0 || rest[0] != '"' {
		f.bad = true
		return nil
	}
	n := bytes.IndexByte(rest[1:], '"')
	if n < 0 || !plain(rest[1:1+n]) {
		f.bad = true
		return nil
	}
	f.i += n + 2
	return rest[1 : 1+n]
}

// plain says whether a string's content means itself.
func plain(b []byte) bool {
	ascii := true
	for _, c := range b {
		if c < ' ' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(b)
}

// name is a string that other rows have too: a key, a hash, an endpoint.
func (f *flat) name() string { return f.keep.shared(f.raw()) }

// own is a string that no other row has.
func (f *flat) own() string { return f.keep.own(f.raw()) }

// text is a string that may have escapes.
func (f *flat) text() (text string) {
	rest := f.b[min(f.i, len(f.b)):]
	if len(rest) == 0 || rest[0] != '"' {
		f.bad = true
		return ""
	}
	n := stringEnd(rest)
	if n == 0 || json.Unmarshal(rest[:n], &text) != nil {
		f.bad = true
		return ""
	}
	f.i += n
	return text
}

func (f *flat) number() int64 {
	negative := f.peek() == '-'
	if negative {
		f.i++
	}
	first, v := f.i, int64(0)
	for c := f.peek(); c >= '0' && c <= '9'; c = f.peek() {
		v = v*10 + int64(c-'0')
		f.i++
	}
	if digits := f.i - first; digits == 0 || digits > 18 || (digits > 1 && f.b[first] == '0') {
		f.bad = true
	}
	if negative {
		return -v
	}
	return v
}

// keeper holds the strings of a file: those that many rows share once, the others side by side in large pieces.
type keeper struct {
	known map[string]string
	piece *strings.Builder
}

const pieceSize = 64 << 10

func newKeeper() *keeper { return &keeper{known: map[string]string{}, piece: new(strings.Builder)} }

func (k *keeper) shared(b []byte) string {
	if s, ok := k.known[string(b)]; ok {
		return s
	}
	s := k.own(b)
	k.known[s] = s
	return s
}

func (k *keeper) own(b []byte) string {
	if k.piece.Cap()-k.piece.Len() < len(b) {
		k.piece = new(strings.Builder)
		k.piece.Grow(max(pieceSize, len(b)))
	}
	from := k.piece.Len()
	k.piece.Write(b)
	return k.piece.String()[from:]
}
