package evidence

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"github.com/idemstorm/idemstorm/harness/plaintext"
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
	if plaintext.ASCII(b) {
		return true
	}
	for _, c := range b {
		if c < ' ' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(b)
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
	if n == 0 {
		f.bad = true
		return ""
	}
	f.i += n
	quoted := rest[1 : n-1]
	if text, ok := f.keep.quotes(quoted); ok {
		return text
	}
	f.bad = f.bad || json.Unmarshal(rest[:n], &text) != nil
	return text
}

// quotes is a text whose only escapes are those of quotation marks, as in JSON within JSON. ok is false for any other.
func (k *keeper) quotes(b []byte) (text string, ok bool) {
	k.scratch = k.scratch[:0]
	for {
		n := bytes.IndexByte(b, '\\')
		if n < 0 {
			n = len(b)
		}
		if !plain(b[:n]) {
			return "", false
		}
		k.scratch = append(k.scratch, b[:n]...)
		if n == len(b) {
			return k.own(k.scratch), true
		}
		if n+1 == len(b) || b[n+1] != '"' {
			return "", false
		}
		k.scratch, b = append(k.scratch, '"'), b[n+2:]
	}
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

// keeper holds the strings of a file side by side in large pieces, and those that were met lately once.
type keeper struct {
	recent  [256]string
	piece   *strings.Builder
	scratch []byte
}

const pieceSize = 64 << 10

func newKeeper() *keeper { return &keeper{piece: new(strings.Builder)} }

var keeperSeed = maphash.MakeSeed()

func (k *keeper) shared(b []byte) string {
	slot := &k.recent[maphash.Bytes(keeperSeed, b)%uint64(len(k.recent))]
	if *slot != string(b) {
		*slot = k.own(b)
	}
	return *slot
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
