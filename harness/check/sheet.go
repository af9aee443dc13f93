package check

import (
	"slices"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// violation is a counterexample.
type violation = verdict.Violation

// sheet is what one invariant writes its observations on.
type sheet struct {
	looked     int64
	count      int64
	violations []violation // smallest first, at most MaxViolations
	first      int64       // when the earliest was there to see; 0 when only rows tell
	doubt      string      // something looked at could not be decided
	skipped    string      // why nothing was looked at
}

// look counts one thing examined.
func (s *sheet) look() { s.looked++ }

// violate keeps a counterexample; of many, the smallest, and of those the first.
func (s *sheet) violate(v violation) {
	s.count++
	if v.AtNS != 0 && (s.first == 0 || v.AtNS < s.first) {
		s.first = v.AtNS
	}
	at, _ := slices.BinarySearchFunc(s.violations, size(v)+1, func(kept violation, n int) int { return size(kept) - n })
	if at >= verdict.MaxViolations {
		return
	}
	s.violations = slices.Insert(s.violations, at, v)
	s.violations = s.violations[:min(len(s.violations), verdict.MaxViolations)]
}

func size(v violation) int { return len(v.Ops) + len(v.Rows) }

// conclude turns the sheet into the finding's status. Doubt outweighs everything but a violation; a part of a history never
// shows that something holds.
func (s *sheet) conclude(f *verdict.Finding, partial string) {
	f.Looked, f.Count, f.Violations, f.FirstNS = s.looked, s.count, s.violations, s.first
	switch {
	case s.count > 0:
		f.Status, f.Why = verdict.Violated, s.doubt
	case s.doubt != "":
		f.Status, f.Why = verdict.Inconclusive, s.doubt
	case s.looked == 0:
		f.Why = s.skipped
		if f.Why == "" {
			f.Why = "nothing was there to judge"
		}
		if f.Claimed {
			f.Why = "the scenario claims it, and " + f.Why
		}
	case partial != "":
		f.Status, f.Why = verdict.Inconclusive, partial
	default:
		f.Status = verdict.Held
	}
}
