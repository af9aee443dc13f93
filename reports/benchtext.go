package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// Names of the files that SaveBench writes beside bench.File.
const (
	BenchHTMLFile = "bench.html"
	BenchTextFile = "bench.txt"
)

// SaveBench writes a benchmark's results and every format of them into a folder that exists; the results come first.
func SaveBench(dir string, r bench.Result) error {
	if err := bench.Save(dir, r); err != nil {
		return err
	}
	if err := wholefile.Write(filepath.Join(dir, BenchTextFile), func(w io.Writer) error { return WriteGoBench(w, r) }); err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(dir, BenchHTMLFile), func(w io.Writer) error { return WriteBenchHTML(w, r) })
}

// WriteBench writes a benchmark for people at a terminal.
func WriteBench(w io.Writer, t Terminal, r bench.Result) error {
	p := t.printer()
	for _, s := range benchSettings(r) {
		p.paragraph(bold, "── ", s.Title())
		p.paragraph(faint, "   ", s.Noise)
		p.benchSpeed(s)
		p.blank()
		p.benchRoles(s)
		p.blank()
		p.benchCosts(s)
		p.blank()
	}
	for _, n := range benchNotes(r) {
		p.paragraph(yellow, "· ", n)
	}
	p.paragraph(faint, "", benchLegend)
	p.paragraph(faint, "", benchHead(r))
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write the benchmark: %w", err)
	}
	return nil
}

func (p *printer) benchSpeed(s benchSetting) {
	columns := []column{
		{Head: "speed", Flexible: true},
		{Head: "keys/s", Right: true},
		{Head: "change", Right: true},
		{Head: "× pgbench", Right: true},
		{Head: "winner " + s.Lead, Right: true},
		{Head: "change", Right: true},
	}
	var rows [][]string
	for _, r := range s.Rows {
		rows = append(rows, []string{r.Series, r.Keys, r.KeysBy, r.Floor, r.Lead, r.LeadBy})
	}
	p.table(0, columns, rows, nil)
}

func (p *printer) benchRoles(s benchSetting) {
	columns := []column{{Head: "latency", Flexible: true}}
	names := []string{}
	for _, head := range []string{"winner p50", "p90", "p99", "p99.9", "max", "loser p50", "p99", "replay p50", "p99"} {
		role, quantile, both := strings.Cut(head, " ")
		if !both {
			quantile = head
			role, _, _ = strings.Cut(names[len(names)-1], "-")
		}
		names = append(names, role+"-"+quantile+"-ns")
		columns = append(columns, column{Head: head, Right: true, Optional: quantile == "p90" || quantile == "max"})
	}
	var rows [][]string
	for _, r := range s.Rows {
		row := []string{r.Series}
		for _, n := range names {
			row = append(row, r.Time(n))
		}
		rows = append(rows, row)
	}
	p.table(0, columns, rows, nil)
}

func (p *printer) benchCosts(s benchSetting) {
	columns := []column{
		{Head: "per request", Flexible: true},
		{Head: "statements", Right: true},
		{Head: "WAL bytes", Right: true},
		{Head: "lock wait", Right: true},
		{Head: "pool wait", Right: true},
		{Head: "trips: winner/replay", Right: true},
		{Head: "failed", Right: true},
	}
	var rows [][]string
	for _, r := range s.Rows {
		rows = append(rows, []string{
			r.Series, r.Each("statements/req"), r.Each("wal-B/req"), r.Time("lock-wait-ns/req"), r.Time("pool-wait-ns/req"), r.Trips, r.Failed,
		})
	}
	p.table(0, columns, rows, nil)
}

// WriteGoBench writes a benchmark in Go's benchmark format, one line a measurement, for benchstat: `benchstat before/bench.txt after/bench.txt`, or
// within one file `benchstat -col /strategy bench.txt`.
func WriteGoBench(w io.Writer, r bench.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: github.com/idemstorm/idemstorm\n", runtime.GOOS, runtime.GOARCH)
	for _, f := range r.Environment {
		if f.Name == "cpu" {
			fmt.Fprintf(&b, "cpu: %s\n", strings.Join(strings.Fields(f.Value), " "))
		}
	}
	for _, m := range bench.Metrics {
		better := "lower"
		if m.Higher {
			better = "higher"
		}
		fmt.Fprintf(&b, "Unit %s better=%s\n", m.Name, better)
	}
	for _, m := range r.Measurements {
		b.WriteString(goBenchLine(m))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the benchmark for benchstat: %w", err)
	}
	return nil
}

func goBenchLine(m bench.Measurement) string {
	line := "BenchmarkClaim/strategy=" + m.Cell.String() + " " + strconv.FormatInt(max(m.Keys, 1), 10)
	for _, metric := range bench.Metrics {
		if v, ok := metric.Of(m); ok {
			line += " " + strconv.FormatFloat(v, 'f', -1, 64) + " " + metric.Name
		}
	}
	return line + "\n"
}

// WriteBenchComparison writes a comparison for people at a terminal: every change, what pgbench alone did, and the gates last.
func WriteBenchComparison(w io.Writer, t Terminal, c bench.Comparison) error {
	p := t.printer()
	p.changes("after over before", c.Changes)
	if len(c.Floor) > 0 {
		p.changes("the machine: pgbench alone", c.Floor)
	}
	for _, m := range c.Missing {
		p.paragraph(yellow, "· ", "only in one of the two: "+m)
	}
	p.gateLines(c)
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

func (p *printer) changes(head string, changes []bench.Change) {
	columns := []column{{Head: head, Flexible: true}, {Head: ""}, {Head: "change", Right: true}, {Head: "noise", Right: true}, {Head: "gate"}}
	var rows [][]string
	for _, c := range changes {
		rows = append(rows, []string{c.Cell.String(), c.Metric, effectText(c.Effect), noiseText(c.Effect.Noise), gateWord(c.Gate)})
	}
	p.table(0, columns, rows, nil)
	p.blank()
}

func gateWord(g bench.Gate) string {
	if g.Status == verdict.NotJudged {
		return ""
	}
	return glyphs[g.Status] + " " + map[verdict.Status]string{verdict.Held: "met", verdict.Violated: "failed", verdict.Inconclusive: "inconclusive"}[g.Status]
}

// gateLines say why a gate is not met, and sum up.
func (p *printer) gateLines(c bench.Comparison) {
	judged, worst := c.Gated()
	if !judged {
		p.paragraph(faint, "", "No gate was asked for: --max-p99-regression, --max-throughput-regression.")
		return
	}
	for _, x := range c.Changes {
		switch x.Gate.Status {
		case verdict.Violated:
			p.paragraph(red, "✗ ", fmt.Sprintf("%v: %s %s, and %s %% were allowed", x.Cell, x.Metric, effectText(x.Effect), digits(100*x.Gate.Limit)))
		case verdict.Inconclusive:
			p.paragraph(yellow, "? ", fmt.Sprintf("%v: %s: %s", x.Cell, x.Metric, x.Gate.Why))
		}
	}
	p.paragraph(statusStyle(worst), "", map[verdict.Status]string{
		verdict.Held: "✓ every gate was met (exit 0)", verdict.Violated: "✗ a gate failed (exit 4)",
		verdict.Inconclusive: "? a gate had too little data: more runs, or a quieter machine (exit 5)",
	}[worst])
}
