package reports

import (
	"fmt"
	"io"
	"strings"
)

// Listed is one line of a listing: short cells that are aligned, and a text.
type Listed struct {
	Cells []string
	Text  string
}

// leastText is the width that a text needs beside its cells; below, it goes under them.
const leastText = 40

// WriteListing aligns the cells and wraps the texts. Without a known width each entry is one line, so that other programs find it.
func WriteListing(w io.Writer, t Terminal, entries []Listed) error {
	if len(entries) == 0 {
		return nil
	}
	columns := make([]column, len(entries[0].Cells))
	var rows [][]string
	for _, e := range entries {
		rows = append(rows, e.Cells)
	}
	widths := natural(columns, rows)
	indent := 2 * len(widths)
	for _, n := range widths {
		indent += n
	}
	p := t.printer()
	for _, e := range entries {
		var head strings.Builder
		for i, cell := range e.Cells {
			fmt.Fprintf(&head, "%-*s  ", widths[i], cell)
		}
		switch {
		case t.Width == 0:
			p.line(head.String() + e.Text)
		case t.Width-indent < leastText:
			p.line(head.String())
			p.paragraph(plain, "    ", e.Text)
		default:
			p.paragraph(plain, head.String(), e.Text)
		}
	}
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}
