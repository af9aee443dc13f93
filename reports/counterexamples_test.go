package reports

import (
	"strings"
	"testing"
)

// A test's failure message shows what broke and how to see it again, and none of the tables that are for a run's own terminal.
func TestAFailureMessageHasEveryCounterexampleAndNoTables(t *testing.T) {
	run := violatedRun()
	var b strings.Builder
	if err := WriteCounterexamples(&b, Terminal{}, run); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"VIOLATED", "reproduce: ", " violated: ", "expected  ", "rows of "} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	for _, table := range []string{"looked at", "p99"} {
		if strings.Contains(text, table) {
			t.Errorf("it has a table with %q:\n%s", table, text)
		}
	}
	if strings.HasSuffix(text, "\n") {
		t.Error("it ends in an empty line")
	}
}
