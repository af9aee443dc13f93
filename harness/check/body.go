package check

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"strconv"
	"strings"
)

// replayMarker is the member that a replay adds to the stored answer (contract, section 4).
const replayMarker = "idempotency_replayed"

// seed makes hashes comparable within this process, which is as far as they travel.
var seed = maphash.MakeSeed()

// bodyHash is equal for answers that are equal by value: order of members, white space, escapes and the spelling of a number (1,
// 1.0, 1e0) do not count, every digit does, and the replay marker is left out. It parses by hand because it runs once for
// every answer of a run. A body that is not JSON is hashed as it is.
func bodyHash(body []byte) uint64 {
	p := valueParser{rest: body}
	h := p.value(true)
	p.space()
	if p.bad || len(p.rest) != 0 {
		return mix(maphash.Bytes(seed, body), 'x')
	}
	return h
}

// valueParser hashes one JSON value from the front of rest.
type valueParser struct {
	rest []byte
	bad  bool
	deep int
}

// deepest bounds nesting; a deeper body counts as not JSON.
const deepest = 200

func (p *valueParser) value(top bool) uint64 {
	p.space()
	if p.bad || len(p.rest) == 0 || p.deep > deepest {
		p.bad = true
		return 0
	}
	p.deep++
	defer func() { p.deep-- }()
	switch c := p.rest[0]; {
	case c == '{':
		return p.object(top)
	case c == '[':
		return p.array()
	case c == '"':
		return mix(maphash.Bytes(seed, p.text()), 's')
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

// object adds its members' hashes up, so that their order does not count.
func (p *valueParser) object(top bool) uint64 {
	p.rest = p.rest[1:]
	sum := uint64(1)
	for first := true; ; first = false {
		p.space()
		if p.take('}') {
			return mix(sum, 'o')
		}
		if !first && !p.take(',') {
			p.bad = true
		}
		p.space()
		if p.bad || len(p.rest) == 0 || p.rest[0] != '"' {
			p.bad = true
			return 0
		}
		member := p.text()
		skip := top && string(member) == replayMarker
		key := maphash.Bytes(seed, member)
		p.space()
		if !p.take(':') {
			p.bad = true
		}
		value := p.value(false)
		if !skip {
			sum += mix(mix(key, 'k'), value)
		}
	}
}

func (p *valueParser) array() uint64 {
	p.rest = p.rest[1:]
	h := uint64(2)
	for first := true; ; first = false {
		p.space()
		if p.take(']') {
			return mix(h, 'a')
		}
		if !first && !p.take(',') {
			p.bad = true
		}
		if p.bad || len(p.rest) == 0 {
			p.bad = true
			return 0
		}
		h = mix(h, p.value(false))
	}
}

// text takes a string and gives it unescaped.
func (p *valueParser) text() []byte {
	for i := 1; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case '"':
			raw := p.rest[:i+1]
			p.rest = p.rest[i+1:]
			if bytes.IndexByte(raw, '\\') < 0 {
				return raw[1:i]
			}
			var s string
			p.bad = p.bad || json.Unmarshal(raw, &s) != nil
			return []byte(s)
		}
	}
	p.bad, p.rest = true, nil
	return nil
}

func (p *valueParser) number() uint64 {
	n, digits := 0, true
	for n < len(p.rest) && strings.IndexByte("0123456789+-.eE", p.rest[n]) >= 0 {
		digits = digits && p.rest[n] >= '0' && p.rest[n] <= '9'
		n++
	}
	raw := p.rest[:n]
	p.rest = p.rest[n:]
	if digits && raw[0] != '0' && raw[n-1] != '0' { // as ids are: already plain
		return mix(maphash.Bytes(seed, raw), 'n')
	}
	p.bad = p.bad || !json.Valid(raw)
	return mix(maphash.String(seed, plainNumber(string(raw))), 'n')
}

func (p *valueParser) word() uint64 {
	for i, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(p.rest, []byte(w)) {
			p.rest = p.rest[len(w):]
			return mix(uint64(i)+3, 'w')
		}
	}
	p.bad = true
	return 0
}

func (p *valueParser) space() {
	for len(p.rest) > 0 {
		switch p.rest[0] {
		case ' ', '\t', '\r', '\n':
			p.rest = p.rest[1:]
		default:
			return
		}
	}
}

func (p *valueParser) take(c byte) bool {
	if p.bad || len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// plainNumber writes a JSON number as digits without outer zeros and a power of ten, if that is not 0, so that equal values read alike.
func plainNumber(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(strings.TrimPrefix(s[i+1:], "+")); err != nil {
			return sign + s // an exponent past all reason is compared as it is written
		}
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := whole + fraction
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	trimmed = strings.TrimLeft(trimmed, "0")
	switch {
	case trimmed == "":
		return "0"
	case exponent == 0:
		return sign + trimmed
	}
	return sign + trimmed + "e" + strconv.Itoa(exponent)
}

// mix joins two hashes, in order.
func mix(a, b uint64) uint64 {
	h := (a ^ 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	h ^= h >> 29
	h = (h + b) * 0x94d049bb133111eb
	return h ^ h>>32
}
