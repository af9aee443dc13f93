package explore

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteText shows a crash table for the terminal, in 100 columns: a block for each step, a line for each fault.
func (r CrashResult) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %d faults at %d steps, %v\n", r.Name, len(r.Points), len(r.Steps), r.Took.Round(1e6))
	step := 0
	for _, p := range r.Points {
		if p.Step != step {
			step = p.Step
			r.heading(&b, p)
		}
		fmt.Fprintf(&b, "     %-18s saw %-16s then %-16s %4d tries  %d executions, record %s\n",
			p.Fault, p.Saw, p.Final, p.Tries, p.Outcome.Executions, p.Outcome.Record)
		for _, v := range p.Outcome.Violated {
			for i, line := range wrap("VIOLATED "+v.Invariant+": "+v.Sentence, textWidth-9, 4) {
				fmt.Fprintf(&b, "       %s%s\n", strings.Repeat(" ", 2*min(i, 1)), line)
			}
		}
	}
	for _, why := range r.Open {
		for _, line := range wrap("open: "+why, textWidth-2, 4) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	fmt.Fprintf(&b, "%s\n", r.Sentence())
	_, err := w.Write(b.Bytes())
	return err
}

func (r CrashResult) heading(b *bytes.Buffer, p CrashPoint) {
	text := oneLine(p.SQL)
	if p.Kind == Commit {
		text = "commits " + text
	}
	for i, line := range wrap(text, textWidth-4, 2) {
		number := "   "
		if i == 0 {
			number = fmt.Sprintf("%3d", p.Step)
		}
		fmt.Fprintf(b, "%s %s\n", number, line)
	}
}

// Sentence is the result in one line.
func (r CrashResult) Sentence() string {
	switch {
	case r.Violating > 0:
		return fmt.Sprintf("VIOLATED: %d of %d crash points break an invariant", r.Violating, len(r.Points))
	case r.Exit() != 0:
		return "INCONCLUSIVE: nothing broken was seen, and not every crash point was struck"
	}
	return fmt.Sprintf("HELD: no crash point of %d breaks an invariant", len(r.Points))
}
