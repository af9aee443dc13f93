package verdict

import "fmt"

// Exit codes of every command that judges.
const (
	ExitHeld         = 0 // all held and all gates met
	ExitViolated     = 1
	ExitUsage        = 2 // usage or configuration
	ExitUnreachable  = 3 // target or database could not be reached or started
	ExitGate         = 4 // a latency gate failed
	ExitInconclusive = 5
)

// Exit is the exit code that follows from v: a violation outweighs doubt, doubt outweighs a gate that failed on doubtful
// figures.
func (v Verdict) Exit() int {
	switch {
	case v.count(Violated) > 0:
		return ExitViolated
	case v.inconclusive():
		return ExitInconclusive
	case v.gates(Violated) > 0:
		return ExitGate
	}
	return ExitHeld
}

// Exit is the gravest code of several verdicts, in the order violated, inconclusive, gate, held; none judged is inconclusive.
func Exit(vs []Verdict) int {
	if len(vs) == 0 {
		return ExitInconclusive
	}
	seen := map[int]bool{}
	for _, v := range vs {
		seen[v.Exit()] = true
	}
	for _, code := range []int{ExitViolated, ExitInconclusive, ExitGate} {
		if seen[code] {
			return code
		}
	}
	return ExitHeld
}

// Sentence is the verdict in one line.
func (v Verdict) Sentence() string {
	judged := v.count(Held) + v.count(Violated)
	switch v.Exit() {
	case ExitViolated:
		return fmt.Sprintf("%s: VIOLATED: %d of %d judged invariants broken%s", v.Scenario, v.count(Violated), judged, v.reach())
	case ExitInconclusive:
		if v.Partial {
			return v.Scenario + ": INCONCLUSIVE: the verdict is partial: a file of the run is damaged, and only what could be read was judged"
		}
		return fmt.Sprintf("%s: INCONCLUSIVE: nothing broken was seen, and that is not enough to say that it holds", v.Scenario)
	case ExitGate:
		return fmt.Sprintf("%s: TOO SLOW: all %d judged invariants held, %d latency gate(s) failed", v.Scenario, judged, v.gates(Violated))
	}
	held := fmt.Sprintf("%s: HELD: all %d judged invariants held", v.Scenario, judged)
	if v.Losses != nil {
		held += fmt.Sprintf("; acknowledged and lost, as stated: %d", len(v.Losses.Orders))
	}
	return held
}

// reach says how far a verdict reaches that does not reach over the whole run.
func (v Verdict) reach() string {
	if v.Partial {
		return "; partial: a file of the run is cut off, and only what could be read was judged"
	}
	return ""
}

func (v Verdict) inconclusive() bool {
	return v.Interrupted || v.Partial || len(v.Doubts) > 0 || v.count(Inconclusive) > 0 || v.gates(Inconclusive) > 0 || v.count(Held) == 0
}

func (v Verdict) count(s Status) (n int) {
	for _, f := range v.Findings {
		if f.Status == s {
			n++
		}
	}
	return n
}

func (v Verdict) gates(s Status) (n int) {
	for _, g := range v.Gates {
		if g.Status == s {
			n++
		}
	}
	return n
}
