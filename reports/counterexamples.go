package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// WriteCounterexamples writes what a failed test has to say of a run: the verdict, how to see it again, the smallest counterexample of each
// violated invariant with its operations and rows. It does not end in an empty line.
func WriteCounterexamples(w io.Writer, t Terminal, run verdict.Run) error {
	p := t.printer()
	run = presentables([]verdict.Run{run})[0]
	p.lead(run)
	for _, f := range run.Verdict.Findings {
		p.violations(run, f)
	}
	if _, err := io.WriteString(w, strings.TrimRight(p.text.String(), "\n")); err != nil {
		return fmt.Errorf("write counterexamples: %w", err)
	}
	return nil
}
