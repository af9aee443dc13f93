package history

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"
)

// Lines are encoded by hand: recording an attempt costs the driver time that it would otherwise spend on sending, and the plan's
// digest must not change with a library. Members stand in the order of the struct's fields; those with zero values that the struct
// omits are omitted here.

func appendAttemptEvent(b []byte, a *Attempt) []byte {
	b = append(b, `{"attempt":`...)
	b = appendAttempt(b, a)
	return append(b, '}')
}

func appendAttempt(b []byte, a *Attempt) []byte {
	b = appendInt(append(b, '{'), "op", a.Op)
	b = appendInt(b, "n", int64(a.N))
	b = appendInt(b, "replica", int64(a.Replica))
	b = appendInt(b, "intended_ns", a.IntendedNS)
	b = appendInt(b, "sent_ns", a.SentNS)
	b = appendInt(b, "done_ns", a.DoneNS)
	b = appendOptInt(b, "last_byte_ns", a.LastByteNS)
	b = appendText(b, "outcome", string(a.Outcome))
	b = appendOptText(b, "cause", a.Cause)
	b = appendOptInt(b, "bytes_sent", int64(a.BytesSent))
	b = appendOptInt(b, "status", int64(a.Status))
	b = appendFlag(b, "marked", a.Marked)
	b = appendOptText(b, "retry_after", a.RetryAfter)
	switch {
	case len(a.Body) == 0:
	case utf8.Valid(a.Body):
		b = appendText(b, "body", a.Body)
	default:
		b = appendBase64(b, "body_b64", a.Body)
	}
	b = appendFlag(b, "settle", a.Settle)
	return append(b, '}')
}

// AppendOperation appends o as one JSON object without a line end. The bytes are part of the file form: a plan's digest is made
// over them.
func AppendOperation(b []byte, o *Operation) []byte {
	b = appendInt(append(b, '{'), "id", o.ID)
	b = appendText(b, "phase", o.Phase)
	b = appendInt(b, "client", int64(o.Client))
	b = appendInt(b, "due_ns", o.DueNS)
	b = appendOptInt(b, "group", o.Group)
	b = appendOptInt(b, "after", o.After)
	b = appendText(b, "route", o.Route)
	b = appendInt(b, "user", o.User)
	b = appendText(b, "method", o.Method)
	b = appendText(b, "path", o.Path)
	b = appendTexts(b, "keys", o.Keys)
	b = appendOptText(b, "key", o.Key)
	b = appendText(b, "request", o.Request)
	b = appendOptText(b, "spelling", o.Spelling)
	b = appendOptText(b, "content_type", o.ContentType)
	if len(o.Body) > 0 {
		b = appendBase64(b, "body", o.Body)
	}
	b = appendOptInt(b, "replica", int64(o.Replica))
	b = appendInt(b, "deadline_ns", o.DeadlineNS)
	b = appendOptInt(b, "give_up_ns", o.GiveUpNS)
	b = appendOptInt(b, "cut_body", o.CutBody)
	b = appendOptInt(b, "slow_ns", o.SlowNS)
	b = appendFlag(b, "twin", o.Twin)
	b = appendOptText(b, "retry", o.Retry)
	b = appendFlag(b, "once", o.Once)
	b = appendOptText(b, "token", o.Token)
	return append(b, '}')
}

func appendName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendInt(b []byte, name string, v int64) []byte {
	return strconv.AppendInt(appendName(b, name), v, 10)
}

func appendOptInt(b []byte, name string, v int64) []byte {
	if v == 0 {
		return b
	}
	return appendInt(b, name, v)
}

func appendFlag(b []byte, name string, v bool) []byte {
	if !v {
		return b
	}
	return append(appendName(b, name), "true"...)
}

func appendText[T string | []byte](b []byte, name string, v T) []byte {
	return appendString(appendName(b, name), v)
}

func appendOptText(b []byte, name, v string) []byte {
	if v == "" {
		return b
	}
	return appendText(b, name, v)
}

func appendTexts(b []byte, name string, vs []string) []byte {
	if len(vs) == 0 {
		return b
	}
	b = append(appendName(b, name), '[')
	for i, v := range vs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, v)
	}
	return append(b, ']')
}

func appendBase64(b []byte, name string, v []byte) []byte {
	b = append(appendName(b, name), '"')
	b = base64.StdEncoding.AppendEncode(b, v)
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// appendString writes v as a JSON string. What is no UTF-8 becomes U+FFFD, as in encoding/json: names and headers are text, and bodies that are
// not come here as base64.
func appendString[T string | []byte](b []byte, v T) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(v); {
		c := v[i]
		if c >= utf8.RuneSelf {
			n := validRune(string(v[i:min(len(v), i+utf8.UTFMax)]))
			if n > 0 {
				i += n
				continue
			}
			b = append(append(b, v[from:i]...), "\ufffd"...)
			i++
			from = i
			continue
		}
		if plain[c] {
			i++
			continue
		}
		b = appendEscape(append(b, v[from:i]...), c)
		i++
		from = i
	}
	return append(append(b, v[from:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// validRune is the length of the rune at the start of s, 0 when that is no rune.
func validRune(s string) int {
	if r, n := utf8.DecodeRuneInString(s); r != utf8.RuneError || n > 1 {
		return n
	}
	return 0
}

// plain marks the ASCII characters that a JSON string holds as they are.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return t
}()
