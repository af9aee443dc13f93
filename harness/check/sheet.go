package check

import (
	"cmp"
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
	byFault    map[int]verdict.FaultTally
}

// look counts one thing examined.
func (s *sheet) look() { s.looked++ }

// lookIn counts one thing examined, also for each fault that struck it.
func (s *sheet) lookIn(faults []int) {
	s.look()
	s.tally(faults, func(t *verdict.FaultTally) { t.Looked++ })
}

// violateIn keeps a counterexample, and counts it for each fault that struck what it is about.
func (s *sheet) violateIn(faults []int, v violation) {
	s.violate(v)
	s.tally(faults, func(t *verdict.FaultTally) {
		t.Count++
		t.Example = cmp.Or(t.Example, v.Sentence)
	})
}

func (s *sheet) tally(faults []int, add func(*verdict.FaultTally)) {
	if s.byFault == nil {
		s.byFault = map[int]verdict.FaultTally{}
	}
	for _, id := range faults {
		t := s.byFault[id]
		t.Fault = id
		add(&t)
		s.byFault[id] = t
	}
}

// tallies are what was counted for each fault of the run, in the order of their ids; a fault in which nothing was looked at has zeros.
func (s *sheet) tallies(ws windows) (list []verdict.FaultTally) {
	for i := range ws {
		t := s.byFault[ws[i].id]
		t.Fault = ws[i].id
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b verdict.FaultTally) int { return cmp.Compare(a.Fault, b.Fault) })
	return list
}

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
