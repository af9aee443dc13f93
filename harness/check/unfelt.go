package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Unfelt lists the faults of a run that the history does not prove to have struck anything, each in a sentence: what held in such a fault was
// not put to the test. It reads the fault table, so it comes after Summarise. Of a run that was stopped nothing is expected.
func Unfelt(run verdict.Run) (list []string) {
	if run.Verdict.Interrupted {
		return nil
	}
	for _, w := range run.Windows {
		if why := unfelt(w); why != "" {
			list = append(list, fmt.Sprintf("fault %d, %s on %s, proves nothing: %s", w.Fault, w.Kind, w.On, why))
		}
	}
	return list
}

// unfelt says what is missing in the evidence that a fault struck; "" where nothing is.
func unfelt(w verdict.Window) string {
	switch {
	case w.UntilNS == 0:
		return "no healing was recorded"
	case w.Bit == 0:
		return "no connection, statement, process or row felt it"
	case w.Attempts == 0 && !lasting(w.On):
		return "no request was under way in it"
	}
	return ""
}

// lasting says whether a fault changes what later requests find, in a moment in which none needs to be under way.
func lasting(on string) bool { return on == "records" || on == "jobs" || on == "redis" }
