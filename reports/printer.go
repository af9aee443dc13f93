package reports

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// style is how a piece of text stands out on a terminal that can show it.
type style string

// The styles are ANSI SGR parameters.
const (
	plain  style = ""
	bold   style = "1"
	faint  style = "2"
	red    style = "1;31"
	green  style = "32"
	yellow style = "1;33"
)

// printer lays text out in a fixed width: paragraphs, tables and commands. Its text is complete without colour.
type printer struct {
	width int
	color bool
	text  strings.Builder
}

// line has no trailing space, so that logs and golden files stay comparable.
func (p *printer) line(s string) {
	p.text.WriteString(strings.TrimRight(s, " "))
	p.text.WriteByte('\n')
}

func (p *printer) blank() { p.text.WriteByte('\n') }

// paint works on text that was measured before: escapes have no width.
func (p *printer) paint(st style, s string) string {
	if !p.color || st == plain || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// paragraph wraps text behind a label; the lines after the first are indented by the label's width.
func (p *printer) paragraph(st style, label, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	for i, l := range wrap(text, p.width-len(indent)) {
		if i > 0 {
			label = indent
		}
		p.line(label + p.paint(st, l))
	}
}

// command shows a command line so that what is copied still runs: it is broken only at spaces outside quotes, by a
// backslash.
func (p *printer) command(label, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	lines := pack(shellWords(text), p.width-len(indent)-2)
	for i, l := range lines {
		if i < len(lines)-1 {
			l += ` \`
		}
		p.line(label + p.paint(bold, l))
		label = indent + "  "
	}
}

// column is one column of a table. Where the table is too wide, the optional columns go first, the last before the others,
// and then the flexible one is elided.
type column struct {
	Head     string
	Right    bool
	Flexible bool
	Optional bool
}

// flexibleWidth is what a flexible column keeps before optional ones are dropped.
const flexibleWidth = 14

// table aligns rows under their heads, each line indented; a cell that cannot fit is elided in its middle. A style that is
// given for a row applies to its first cell.
func (p *printer) table(indent int, columns []column, rows [][]string, styles []style) {
	columns, rows = p.drop(indent, columns, rows)
	widths := p.fit(indent, columns, rows)
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.Head
	}
	if strings.Join(head, "") != "" {
		p.row(indent, columns, widths, head, faint)
	}
	for i, r := range rows {
		st := plain
		if i < len(styles) {
			st = styles[i]
		}
		p.row(indent, columns, widths, r, st)
	}
}

// row pads by runes before it paints.
func (p *printer) row(indent int, columns []column, widths []int, cells []string, first style) {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", indent))
	for i, c := range cells {
		c = elide(c, widths[i])
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
		if i == 0 || first == faint {
			c = p.paint(first, c)
		}
		if columns[i].Right {
			c, pad = pad, c
		}
		b.WriteString(c + pad)
		if i < len(cells)-1 {
			b.WriteString("  ")
		}
	}
	p.line(b.String())
}

// drop leaves optional columns out until the others fit.
func (p *printer) drop(indent int, columns []column, rows [][]string) ([]column, [][]string) {
	for i := len(columns) - 1; i >= 0; i-- {
		if !columns[i].Optional {
			continue
		}
		need := indent + 2*(len(columns)-1)
		for j, w := range natural(columns, rows) {
			if columns[j].Flexible {
				w = min(w, flexibleWidth)
			}
			need += w
		}
		if need <= p.width {
			break
		}
		columns = slices.Delete(slices.Clone(columns), i, i+1)
		kept := make([][]string, len(rows))
		for r := range rows {
			kept[r] = slices.Delete(slices.Clone(rows[r]), i, i+1)
		}
		rows = kept
	}
	return columns, rows
}

// natural is the width that each column's widest cell needs.
func natural(columns []column, rows [][]string) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.Head)
		for _, r := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
	}
	return widths
}

// fit is the width of each column: what its cells need, and what is left for the flexible one; if that is not enough, the
// widest give way.
func (p *printer) fit(indent int, columns []column, rows [][]string) []int {
	widths := natural(columns, rows)
	over := indent + 2*(len(columns)-1) - p.width
	for _, w := range widths {
		over += w
	}
	for i, c := range columns {
		if c.Flexible && over > 0 {
			give := min(over, max(0, widths[i]-flexibleWidth))
			widths[i] -= give
			over -= give
		}
	}
	for ; over > 0 && slices.Max(widths) > 1; over-- {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	return widths
}

// wrap breaks text at spaces into lines of at most width runes; a longer word is broken within.
func wrap(text string, width int) []string {
	width = max(width, 8)
	var words []string
	for _, w := range strings.Fields(text) {
		for utf8.RuneCountInString(w) > width {
			r := []rune(w)
			words = append(words, string(r[:width]))
			w = string(r[width:])
		}
		words = append(words, w)
	}
	return pack(words, width)
}

// pack fills lines with words; a word is never broken.
func pack(words []string, width int) []string {
	lines := []string{""}
	for _, w := range words {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = w
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(w) <= width:
			*last += " " + w
		default:
			lines = append(lines, w)
		}
	}
	return lines
}

// shellWords splits a command line at the spaces that separate arguments.
func shellWords(s string) []string {
	var words []string
	quote, escaped, start := rune(0), false, 0
	for i, r := range s {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			if i > start {
				words = append(words, s[start:i])
			}
			start = i + 1
		}
	}
	if start < len(s) {
		words = append(words, s[start:])
	}
	return words
}
