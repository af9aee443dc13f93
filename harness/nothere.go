package harness

import (
	"errors"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// whatIsMissing are the reasons for which this machine, or the server that was given, cannot run a scenario, while it may well run others.
var whatIsMissing = []error{errNotOurs, errPoolerNotOurs, pgcluster.ErrNoSmallDisk, pgcluster.ErrNoBouncer, subject.ErrNoRedis}

// notHere finds the reason; nil for an error of any other kind.
func notHere(err error) error {
	for _, reason := range whatIsMissing {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return nil
}

// notRun is the run of a scenario that could not be run here: nothing that it claims was judged, and it says why in one line. It is saved, so
// that `check` finds the same.
func notRun(o Options, reason error) (verdict.Run, error) {
	line := "not run: " + reason.Error()
	run := verdict.Run{
		Schema: verdict.RunSchema, Tool: Version(), Scenario: o.Scenario.Name, Summary: o.Scenario.Summary,
		Seed: o.Seed, Reproduce: o.reproduce(), Variant: o.Variant, Subject: o.subjectLine(), Started: time.Now(), Doubts: []string{line},
	}
	run.Verdict = verdict.Verdict{Scenario: o.Scenario.Name, Doubts: run.Doubts}
	for _, inv := range check.Invariants {
		if slices.Contains(o.Scenario.Invariants, inv.ID) {
			run.Verdict.Findings = append(run.Verdict.Findings, verdict.Finding{
				Invariant: inv.ID, Unit: inv.Unit, Claimed: true, Status: verdict.Inconclusive, Why: "the scenario was not run",
			})
		}
	}
	return run, verdict.Save(o.Dir, run)
}
