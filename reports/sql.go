package reports

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// longList is how many characters a list in parentheses, or of a SELECT, may have before a drawing shows it as an ellipsis.
const longList = 20

// shortSQL prepares the statements of one step for a drawing: one string each, with what is long between parentheses left out, so that verbs
// and tables come first. It is for the eye alone; nothing is decided by it.
func shortSQL(sql string) (out []string) {
	for _, statement := range splitSQL(lineComment.ReplaceAllString(sql, " ")) {
		if short := shortStatement(schedule.OneLine(statement)); short != "" {
			out = append(out, short)
		}
	}
	return out
}

var (
	lineComment = regexp.MustCompile(`--[^\n]*`)
	subquery    = regexp.MustCompile(`(?i)^(select|with|insert|update|delete|values)\b`)
)

// splitSQL cuts at semicolons outside of quotes.
func splitSQL(sql string) (out []string) {
	from := 0
	for i := 0; i < len(sql); i++ {
		switch sql[i] {
		case '\'', '"':
			i += quoted(sql[i:]) - 1
		case ';':
			out = append(out, sql[from:i])
			from = i + 1
		}
	}
	return append(out, sql[from:])
}

// quoted is the length of the literal or name that s begins with.
func quoted(s string) int {
	if end := strings.IndexByte(s[1:], s[0]); end >= 0 {
		return end + 2
	}
	return len(s)
}

func shortStatement(sql string) string {
	var b strings.Builder
	for i := 0; i < len(sql); i++ {
		switch sql[i] {
		case '\'', '"':
			n := quoted(sql[i:])
			b.WriteString(sql[i : i+n])
			i += n - 1
		case '(':
			n := parenthesised(sql[i:])
			b.WriteString(shortGroup(sql[i : i+n]))
			i += n - 1
		default:
			b.WriteByte(sql[i])
		}
	}
	return shortSelect(strings.TrimSpace(b.String()))
}

// parenthesised is the length of the group that s begins with, up to the end of the text if nothing closes it.
func parenthesised(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '"':
			i += quoted(s[i:]) - 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// shortGroup keeps what a group does: a subquery, or something short.
func shortGroup(group string) string {
	inner, closed := strings.CutSuffix(group[1:], ")")
	inner = strings.TrimSpace(inner)
	switch {
	case !closed:
		return group
	case subquery.MatchString(inner):
		return "(" + shortStatement(inner) + ")"
	case utf8.RuneCountInString(inner) <= longList:
		return "(" + inner + ")"
	}
	return "(…)"
}

// shortSelect leaves out a long list of columns; what stands in parentheses has been shortened before.
func shortSelect(sql string) string {
	if len(sql) < 7 || !strings.EqualFold(sql[:7], "select ") {
		return sql
	}
	depth := 0
	for i := 7; i+6 <= len(sql); i++ {
		switch sql[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i > 7+longList && strings.EqualFold(sql[i:i+6], " from ") {
			return sql[:7] + "…" + sql[i:]
		}
		if depth == 0 && strings.EqualFold(sql[i:i+6], " from ") {
			return sql
		}
	}
	return sql
}

var leading = regexp.MustCompile(`(?i)^(insert into|update|delete from|select|with|begin|commit|rollback)\b( [^ (]+)?`)

// headOf is the verb of a statement, with the table that it writes: what a drawing sets in bold.
func headOf(short string) string {
	head := leading.FindString(short)
	if verb, _, _ := strings.Cut(strings.ToLower(head), " "); verb == "select" || verb == "with" {
		return head[:len(verb)]
	}
	return head
}

// cut keeps the first n runes, the last one an ellipsis if something is missing.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRight(string(r[:max(n-1, 0)]), " ,(") + "…"
}
