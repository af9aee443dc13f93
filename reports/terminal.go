package reports

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Terminal is what the text is written to. The zero value is 100 columns without colour.
type Terminal struct {
	Width int  // columns; 0 means 100, and less than 40 is taken as 40
	Color bool // ANSI colours; every coloured text says the same without
}

// DetectTerminal finds width and colour of a file: colour only on a terminal, and not with NO_COLOR set or TERM=dumb;
// COLUMNS overrides the width.
func DetectTerminal(f *os.File, getenv func(string) string) Terminal {
	fd := int(f.Fd())
	t := Terminal{Color: term.IsTerminal(fd) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
	if w, _, err := term.GetSize(fd); err == nil {
		t.Width = min(w, 160)
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		t.Width = n
	}
	return t
}

// printer sets the defaults; below 40 columns tables would say nothing.
func (t Terminal) printer() *printer {
	if t.Width == 0 {
		t.Width = 100
	}
	return &printer{width: max(t.Width, 40), color: t.Color}
}

// WriteTerminal writes runs for people at a terminal: the verdict of each first, then for each run what broke, all invariants,
// gates and latencies. No line is wider than the terminal, but for a single word of a command that is.
func WriteTerminal(w io.Writer, t Terminal, runs ...verdict.Run) error {
	p := t.printer()
	runs = presentables(runs)
	for _, r := range runs {
		p.lead(r)
	}
	for _, r := range runs {
		p.run(r, len(runs) > 1)
	}
	p.verdicts(runs)
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// WriteVerdicts writes the verdict of each run in one line.
func WriteVerdicts(w io.Writer, t Terminal, runs ...verdict.Run) error {
	p := t.printer()
	p.verdicts(presentables(runs))
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return nil
}

func exitStyle(exit int) style {
	switch exit {
	case verdict.ExitHeld:
		return green
	case verdict.ExitViolated:
		return red
	}
	return yellow
}

func statusStyle(s verdict.Status) style {
	switch s {
	case verdict.Held:
		return green
	case verdict.Violated:
		return red
	case verdict.Inconclusive:
		return yellow
	}
	return faint
}

// lead prints the verdict, what broke for which key, and the command that shows it again.
func (p *printer) lead(r verdict.Run) {
	l := newLead(r)
	p.verdict(l)
	for _, b := range l.Broken {
		p.paragraph(plain, "  "+b.Invariant+": ", b.Sentence)
	}
	for _, why := range l.Reasons {
		p.paragraph(plain, "  ", why)
	}
	p.command("  reproduce: ", l.Reproduce)
	p.blank()
}

// verdicts come at the end, where the eye is after a long output.
func (p *printer) verdicts(runs []verdict.Run) {
	for _, r := range runs {
		p.verdict(newLead(r))
	}
}

func (p *printer) verdict(l lead) {
	p.paragraph(exitStyle(l.Exit), l.Glyph+" ", l.Sentence+" (exit "+strconv.Itoa(l.Exit)+")")
}

// run ends with the figures that say how much the verdict rests on.
func (p *printer) run(r verdict.Run, several bool) {
	if several {
		p.paragraph(bold, "── ", r.Scenario)
		p.blank()
	}
	for _, f := range r.Verdict.Findings {
		p.violations(r, f)
	}
	if r.Target == "" {
		p.invariants(r.Verdict.Findings)
	} else {
		p.invariants(judged(r.Verdict.Findings))
		p.unjudged(r.Verdict.Findings)
	}
	p.losses(r.Verdict.Losses)
	p.faults(r)
	p.gates(r.Verdict.Gates)
	p.latencies(r.Latency)
	c := r.Counts
	p.paragraph(faint, "", sentence(" · ", "seed "+strconv.FormatUint(r.Seed, 10), r.Subject,
		plural(c.Operations, "operation", "operations"), plural(c.Attempts, "attempt", "attempts"),
		count(c.Lost)+" lost", cutShort(c.Cut), plural(c.Keys, "key", "keys"), "took "+duration(r.Took)))
	p.blank()
}

// cutShort says how many requests clients broke off, if they did.
func cutShort(n int64) string {
	if n == 0 {
		return ""
	}
	return count(n) + " cut short"
}

// violations prints the smallest counterexample only: a terminal is for the first look.
func (p *printer) violations(r verdict.Run, f verdict.Finding) {
	if f.Status != verdict.Violated {
		return
	}
	n := max(f.Count, int64(len(f.Violations)))
	p.paragraph(red, "✗ ", f.Invariant+" violated: "+plural(n, "counterexample", "counterexamples"))
	if m := meanings[f.Invariant]; m != "" {
		p.paragraph(faint, "  ", m)
	}
	for i, v := range f.Violations {
		if i == 1 {
			p.paragraph(faint, "  ", plural(n-1, "more counterexample is", "more counterexamples are")+" in "+HTMLFile+" and "+verdict.File+", as far as they were kept")
			break
		}
		p.example(newExample(r, f, v))
	}
	p.blank()
}

// example prints one counterexample: in words, as aligned operations, and with the rows that show it.
func (p *printer) example(e example) {
	p.paragraph(bold, "  ", e.Sentence)
	p.paragraph(plain, "  expected  ", e.Expected)
	p.paragraph(plain, "  seen      ", e.Seen)
	if e.Key != "" {
		p.paragraph(plain, "  key       ", e.Key)
	}
	if scope := sentence(", ", userName(e.User), e.Endpoint); scope != "" {
		p.paragraph(plain, "  scope     ", scope)
	}
	p.attempts(e)
	for _, f := range e.Faults {
		p.paragraph(plain, "  fault     ", f.Title()+", "+f.interval())
	}
	for _, t := range e.Tables {
		p.rows(t)
	}
}

// attempts marks a loss with a plus after its time: the effect may come later than the client stopped waiting.
func (p *printer) attempts(e example) {
	if len(e.Attempts) == 0 {
		return
	}
	p.paragraph(plain, "  ", "operations, in ms since the first was sent, "+e.Start()+" into the run (● part of the contradiction):")
	columns := []column{
		{Head: ""},
		{Head: "op", Right: true},
		{Head: "try", Right: true},
		{Head: "client", Right: true, Optional: true},
		{Head: "replica", Right: true, Optional: true},
		{Head: "sent", Right: true},
		{Head: "done", Right: true},
		{Head: "answer"},
		{Head: "request", Flexible: true, Optional: true},
	}
	var rows [][]string
	for _, a := range e.Attempts {
		cited := ""
		if a.Cited {
			cited = "●"
		}
		rows = append(rows, []string{
			cited, strconv.FormatInt(a.Op, 10), strconv.Itoa(a.N), strconv.Itoa(a.Operation.Client), strconv.Itoa(a.Replica),
			millis(a.SentNS), a.Done(), a.Label, a.Asked(),
		})
	}
	p.table(2, columns, rows, nil)
	if e.More > 0 {
		p.paragraph(plain, "    … and ", plural(int64(e.More), "more attempt", "more attempts"))
	}
}

// rows turns to name=value pairs where columns would be cut, since a cut value is no evidence.
func (p *printer) rows(t rowTable) {
	p.paragraph(plain, "  ", "rows of "+t.Name+":")
	columns := make([]column, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = column{Head: c}
	}
	if p.narrow(t) {
		p.rowLists(t)
	} else {
		p.table(4, columns, t.Rows, nil)
	}
	if t.More > 0 {
		p.paragraph(plain, "    … and ", plural(int64(t.More), "more row", "more rows"))
	}
}

// narrow says that a table of rows would lose text in this width.
func (p *printer) narrow(t rowTable) bool {
	need := 4 + 2*(len(t.Columns)-1)
	for _, w := range natural(make([]column, len(t.Columns)), append([][]string{t.Columns}, t.Rows...)) {
		need += w
	}
	return need > p.width
}

// rowLists shows each row as name=value pairs.
func (p *printer) rowLists(t rowTable) {
	for _, r := range t.Rows {
		var pairs []string
		for i, c := range t.Columns {
			if r[i] != dash {
				pairs = append(pairs, c+"="+r[i])
			}
		}
		p.paragraph(plain, "    · ", sentence("  ", pairs...))
	}
}

func (p *printer) invariants(fs []verdict.Finding) {
	columns := []column{{Head: "status"}, {Head: "invariant"}, {Head: "looked at", Right: true, Optional: true}, {Head: "", Flexible: true}}
	var rows [][]string
	var styles []style
	for _, f := range gravest(fs) {
		rows = append(rows, []string{glyphs[f.Status] + " " + f.Status.String(), f.Invariant, looked(f), remark(f)})
		styles = append(styles, statusStyle(f.Status))
	}
	if len(rows) > 0 {
		p.table(0, columns, rows, styles)
		p.blank()
	}
}

func (p *printer) gates(gs []verdict.Gate) {
	columns := []column{
		{Head: "gate"},
		{Head: "", Flexible: true},
		{Head: "limit", Right: true},
		{Head: "value", Right: true},
		{Head: "95 % interval", Right: true},
		{Head: "samples", Right: true},
	}
	var rows [][]string
	var styles []style
	for _, g := range gs {
		rows = append(rows, []string{
			glyphs[g.Status] + " " + g.Status.String(), g.Name, duration(g.Limit), gateValue(g), gateInterval(g), count(g.Samples),
		})
		styles = append(styles, statusStyle(g.Status))
	}
	if len(rows) > 0 {
		p.table(0, columns, rows, styles)
		p.blank()
	}
}

func (p *printer) latencies(ls []latency.Summary) {
	columns := []column{{Head: "latency", Flexible: true}, {Head: ""}, {Head: "samples", Right: true, Optional: true}}
	for _, q := range shownQuantiles {
		columns = append(columns, column{Head: percentile(q), Right: true, Optional: q != 0.99})
	}
	columns = append(columns, column{Head: "max", Right: true})
	var rows [][]string
	for _, s := range ls {
		row := []string{s.Group, string(s.Kind), count(s.Count)}
		for _, q := range shownQuantiles {
			row = append(row, quantileText(s, q))
		}
		rows = append(rows, append(row, most(s)))
	}
	if len(rows) > 0 {
		p.table(0, columns, rows, nil)
		p.blank()
	}
}
