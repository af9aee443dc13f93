package reports

import "github.com/idemstorm/idemstorm/harness/verdict"

// faults prints what each fault struck, and below it what became of that: one table would be too wide for a terminal.
func (p *printer) faults(r verdict.Run) {
	rows := faultRows(r)
	if len(rows) == 0 {
		return
	}
	var struck, became [][]string
	var styles []style
	for _, f := range rows {
		a := f.Answers
		struck = append(struck, []string{
			f.Number(), f.Title(), f.From(), f.Until(), count(f.Bit), count(f.Attempts), count(a.OK), count(a.Conflict), count(a.Unavailable),
			count(a.Failed), count(a.None), count(a.Other),
		})
		became = append(became, []string{
			f.Number(), count(f.Keys), count(f.Shared), f.Open(), f.Settled(), f.Errors(), f.ExecutedTwice(), f.AckedAndLost(), f.NeverSettled(),
		})
		styles = append(styles, harmStyle(f))
	}
	p.table(0, struckColumns, struck, styles)
	p.blank()
	p.table(0, becameColumns, became, styles)
	if note := overlapNote(r); note != "" {
		p.paragraph(faint, "", note)
	}
	for _, c := range faultChecks(r) {
		for _, example := range c.Examples {
			p.paragraph(red, "  ", c.Invariant+" in fault "+example)
		}
	}
	p.blank()
}

var struckColumns = []column{
	{Head: "fault"},
	{Head: "", Flexible: true},
	{Head: "from", Right: true},
	{Head: "to", Right: true},
	{Head: "bit", Right: true, Optional: true},
	{Head: "requests", Right: true},
	{Head: "2xx", Right: true},
	{Head: "409/425", Right: true, Optional: true},
	{Head: "503", Right: true},
	{Head: "5xx", Right: true, Optional: true},
	{Head: "none", Right: true, Optional: true},
	{Head: "else", Right: true, Optional: true},
}

var becameColumns = []column{
	{Head: "fault"},
	{Head: "keys", Right: true},
	{Head: "shared", Right: true, Optional: true},
	{Head: "unsettled", Right: true, Optional: true},
	{Head: "settled in", Right: true, Optional: true},
	{Head: "errors over in", Right: true, Optional: true},
	{Head: "executed twice", Right: true},
	{Head: "lost", Right: true},
	{Head: "stuck", Right: true},
}

func harmStyle(f faultRow) style {
	if f.Harmed() {
		return red
	}
	return plain
}
