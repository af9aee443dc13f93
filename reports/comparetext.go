package reports

import (
	"fmt"
	"io"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// WriteComparisonText writes comparisons for people at a terminal: what changed first, then what cannot be told.
func WriteComparisonText(w io.Writer, t Terminal, list []verdict.Comparison) error {
	p := t.printer()
	for _, c := range list {
		p.comparison(newComparePart(c))
	}
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

func (p *printer) comparison(c comparePart) {
	p.paragraph(exitStyle(c.Exit()), exitGlyphs[c.Exit()]+" ", c.Sentence()+fmt.Sprintf(" (exit %d)", c.Exit()))
	for _, s := range c.Sides {
		p.paragraph(plain, "  "+s.Letter+"  ", sentence("; ", s.Name, s.Lead.Word, s.Run.Subject, "seed "+fmt.Sprint(s.Run.Seed), started(s.Run)))
	}
	p.blank()
	p.invariantChanges(c.Changed)
	p.shifts("what differs", c.Told)
	p.shifts("cannot tell", c.Untold)
	for _, why := range c.Caveats {
		p.paragraph(faint, "  caveat: ", why)
	}
	p.paragraph(faint, "  ", c.Note)
	p.blank()
}

// noiseNote says what a difference is.
func noiseNote(c verdict.Comparison) string {
	note := "A response time differs where the whole 99 % bootstrap interval of its ratio lies outside the noise. "
	if c.Measured != "" {
		note += "The noise is what A and " + c.Measured + ", another run of the same server, differ by, and " + times(1+c.Noise) + " at least."
	} else {
		note += "The noise is assumed, not measured: " + times(1/(1+c.Noise)) + " to " + times(1+c.Noise) + ". Runs of one server can differ by more; --same DIR measures it with another run of A's server."
	}
	if c.Scarce > 0 {
		note += " " + plural(int64(c.Scarce), "percentile has", "percentiles have") + " too few samples to be compared."
	}
	return note
}

func (p *printer) invariantChanges(list []verdict.InvariantChange) {
	if len(list) == 0 {
		p.paragraph(plain, "  ", "No invariant changed.")
		p.blank()
		return
	}
	var rows [][]string
	var styles []style
	for _, i := range list {
		rows = append(rows, []string{trendGlyphs[i.Trend] + " " + i.Trend.String(), i.Invariant, i.A.Status.String(), i.B.Status.String(), remark(i.B)})
		styles = append(styles, trendStyle(i.Trend))
	}
	p.table(0, []column{{Head: "change"}, {Head: "invariant"}, {Head: "in A"}, {Head: "in B"}, {Head: "", Flexible: true, Optional: true}}, rows, styles)
	p.blank()
}

func (p *printer) shifts(head string, list []latencyRow) {
	if len(list) == 0 {
		return
	}
	var rows [][]string
	var styles []style
	for _, l := range list {
		rows = append(rows, []string{trendGlyphs[l.Trend] + " " + l.Trend.String(), l.Name, l.Before(), l.After(), l.Ratio, l.Interval, l.Within})
		styles = append(styles, trendStyle(l.Trend))
	}
	p.table(0, []column{
		{Head: head},
		{Head: "latency", Flexible: true},
		{Head: "A", Right: true},
		{Head: "B", Right: true},
		{Head: "B/A", Right: true},
		{Head: "99 % interval", Right: true},
		{Head: "noise", Right: true, Optional: true},
	}, rows, styles)
	p.blank()
}

var trendGlyphs = map[verdict.Trend]string{
	verdict.CannotTell: "?", verdict.Same: "=", verdict.Better: "✓", verdict.Worse: "✗", verdict.LessKnown: "?", verdict.MoreKnown: "✓",
}

func trendStyle(t verdict.Trend) style {
	switch t {
	case verdict.Worse:
		return red
	case verdict.Better, verdict.MoreKnown:
		return green
	case verdict.LessKnown:
		return yellow
	}
	return faint
}
