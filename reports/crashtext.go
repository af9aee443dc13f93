package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// WriteCrashes shows a crash table for the terminal, in 100 columns: a block for each step, a line for each fault.
func WriteCrashes(w io.Writer, r schedule.CrashResult) error {
	r = presentableAs(r, spelled)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %d faults at %d steps, %v\n", r.Name, len(r.Points), len(r.Steps), r.Took.Round(1e6))
	step := 0
	for _, p := range r.Points {
		if p.Step != step {
			step = p.Step
			crashHeading(&b, p)
		}
		fmt.Fprintf(&b, "     %-18s saw %-16s then %-16s %4d tries  %d executions, record %s\n",
			p.Fault, p.Saw, p.Final, p.Tries, p.Outcome.Executions, p.Outcome.Record)
		for _, v := range p.Outcome.Violated {
			for i, line := range wrapped("VIOLATED "+v.Invariant+": "+v.Sentence, columns-9, 4) {
				fmt.Fprintf(&b, "       %s%s\n", strings.Repeat(" ", 2*min(i, 1)), line)
			}
		}
	}
	for _, why := range r.Open {
		for _, line := range wrapped("open: "+why, columns-2, 4) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	for _, note := range r.Notes {
		for _, line := range wrapped("note: "+note, columns-2, 4) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	writeNotJudged(&b, r.NotJudged)
	fmt.Fprintf(&b, "%s\n", r.Sentence())
	_, err := w.Write(b.Bytes())
	return err
}

func crashHeading(b *bytes.Buffer, p schedule.CrashPoint) {
	text := schedule.OneLine(p.SQL)
	if p.Kind == schedule.Commit {
		text = "commits " + text
	}
	for i, line := range wrapped(text, columns-4, 2) {
		number := "   "
		if i == 0 {
			number = fmt.Sprintf("%3d", p.Step)
		}
		fmt.Fprintf(b, "%s %s\n", number, line)
	}
}
