package explore

import (
	"strings"
	"unicode"
)

// tokenKind is what a piece of SQL is.
type tokenKind uint8

const (
	wordToken tokenKind = iota // folded to lower case unless quoted
	quotedToken
	textToken // a string literal
	numberToken
	paramToken
	markToken // one character of punctuation, or ::
)

type token struct {
	kind tokenKind
	text string
}

func (t token) is(words ...string) bool {
	for _, word := range words {
		if t.text == word && (t.kind == wordToken || t.kind == markToken) {
			return true
		}
	}
	return false
}

// tokens cuts SQL into its pieces, comments left out. It never fails: an unfinished literal ends with the text.
func tokens(sql string) []token {
	var out []token
	for rest := sql; rest != ""; {
		t, size := nextToken(rest)
		if t.text != "" || t.kind == textToken {
			out = append(out, t)
		}
		rest = rest[size:]
	}
	return out
}

func nextToken(s string) (token, int) {
	switch c := rune(s[0]); {
	case unicode.IsSpace(c):
		return token{}, 1
	case strings.HasPrefix(s, "--"):
		return token{}, upTo(s, "\n", 2)
	case strings.HasPrefix(s, "/*"):
		return token{}, commentEnd(s)
	case c == '\'':
		return literal(s, 0)
	case (c == 'e' || c == 'E') && len(s) > 1 && s[1] == '\'':
		return literal(s, 1)
	case c == '"':
		n := upTo(s, `"`, 1)
		return token{quotedToken, strings.Trim(s[:n], `"`)}, n
	case c == '$':
		return dollar(s)
	case c >= '0' && c <= '9':
		n := span(s, func(c byte) bool { return isWord(c) || c == '.' })
		return token{numberToken, s[:n]}, n
	case isWord(s[0]):
		n := span(s, isWord)
		return token{wordToken, strings.ToLower(s[:n])}, n
	case strings.HasPrefix(s, "::"):
		return token{markToken, "::"}, 2
	}
	return token{markToken, s[:1]}, 1
}

// isWord takes every byte beyond ASCII for a letter, as PostgreSQL does.
func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// upTo is the length of s up to and including the first end at or after from.
func upTo(s, end string, from int) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// commentEnd follows nested comments.
func commentEnd(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(s)
}

// literal reads a string from its quote at open; E'…' has backslash escapes.
func literal(s string, open int) (token, int) {
	i := open + 1
	for ; i < len(s); i++ {
		switch {
		case open > 0 && s[i] == '\\':
			i++
		case s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == '\'':
			return token{textToken, s[open+1 : i]}, i + 1
		}
	}
	return token{textToken, s[min(open+1, len(s)):]}, len(s)
}

// dollar reads $1 or a dollar-quoted string.
func dollar(s string) (token, int) {
	if n := 1 + span(s[1:], func(c byte) bool { return c >= '0' && c <= '9' }); n > 1 {
		return token{paramToken, s[:n]}, n
	}
	tag := 1 + span(s[1:], isWord)
	if tag < len(s) && s[tag] == '$' {
		quote := s[:tag+1]
		n := upTo(s, quote, len(quote))
		return token{textToken, strings.Trim(s[:n], "$")}, n
	}
	return token{markToken, "$"}, 1
}

// normal is a statement's fixed part: literals and numbers, which may differ between two runs of the same code, become a
// question mark, and so do lists of them.
func normal(sql string) string {
	var b strings.Builder
	for i, t := range tokens(sql) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.kind == textToken || t.kind == numberToken {
			b.WriteByte('?')
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String()
}
