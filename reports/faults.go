package reports

import (
	"strconv"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// faultRow is one line of the faults table as every format shows it.
type faultRow struct{ verdict.Window }

func faultRows(r verdict.Run) []faultRow {
	var rows []faultRow
	for _, w := range r.Windows {
		rows = append(rows, faultRow{w})
	}
	return rows
}

// Number is how a fault is called in tables and on the timeline.
func (f faultRow) Number() string { return faultNumber(f.Fault) }

func faultNumber(id int) string { return "#" + strconv.Itoa(id) }

// Title says what struck, and on what. That it struck all replicas is the usual case and not said.
func (f faultRow) Title() string {
	return sentence(" on ", f.Kind, strings.TrimSuffix(f.On, " of all replicas"))
}

// From is when it struck.
func (f faultRow) From() string { return duration(time.Duration(f.FromNS)) }

// Until is when it had healed.
func (f faultRow) Until() string {
	if f.UntilNS == 0 {
		return dash
	}
	return duration(time.Duration(f.UntilNS))
}

// Open is how many of the struck keys had no final answer when it had healed.
func (f faultRow) Open() string {
	if f.UntilNS == 0 {
		return dash
	}
	return count(f.Unsettled)
}

// Settled is how long the struck keys took that were open when it had healed.
func (f faultRow) Settled() string {
	if f.Longest == 0 {
		return dash
	}
	return duration(f.Longest)
}

// Errors is how long the errors outlasted it.
func (f faultRow) Errors() string {
	switch {
	case f.BackWhy != "":
		return dash
	case f.Back == 0:
		return "at once"
	}
	return duration(f.Back)
}

// ExecutedTwice is a count, or a dash where nobody could tell.
func (f faultRow) ExecutedTwice() string { return known(f.Twice) }

// AckedAndLost is a count, or a dash where nobody could tell.
func (f faultRow) AckedAndLost() string { return known(f.Lost) }

// NeverSettled is a count, or a dash where nobody could tell.
func (f faultRow) NeverSettled() string { return known(f.Stuck) }

func known(n *int64) string {
	if n == nil {
		return dash
	}
	return count(*n)
}

// Harmed says whether anything was executed twice, lost or stuck in it.
func (f faultRow) Harmed() bool {
	for _, n := range []*int64{f.Twice, f.Lost, f.Stuck} {
		if n != nil && *n > 0 {
			return true
		}
	}
	return false
}

// faultCheck is what one invariant found in each fault of a run.
type faultCheck struct {
	Invariant string
	Status    verdict.Status
	Cells     []string // one for each fault: how many were looked at, and what broke
	Examples  []string // one violation for each fault that has some
}

func faultChecks(r verdict.Run) (list []faultCheck) {
	for _, f := range r.Verdict.Findings {
		if len(f.Faults) == 0 || len(r.Windows) == 0 {
			continue
		}
		c := faultCheck{Invariant: f.Invariant, Status: f.Status}
		for _, t := range f.Faults {
			cell := count(t.Looked)
			if t.Count > 0 {
				cell += ", " + count(t.Count) + " broken"
				c.Examples = append(c.Examples, faultNumber(t.Fault)+": "+t.Example)
			}
			c.Cells = append(c.Cells, cell)
		}
		list = append(list, c)
	}
	return list
}

// overlapNote says that keys are counted more than once, if they are.
func overlapNote(r verdict.Run) string {
	shared := false
	for _, w := range r.Windows {
		shared = shared || w.Shared > 0
	}
	if !shared {
		return ""
	}
	return "Keys that several faults struck are counted for each of them; \"shared\" says how many of a fault's keys they are."
}
