package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports/progress"
	"github.com/idemstorm/idemstorm/scenarios"
)

// soakFlags are what `soak` can be told.
type soakFlags struct {
	length   time.Duration
	runs     int
	parallel int
	seed     uint64
	suite    string
	out      string

	quiet, json bool
}

func newSoakCommand() *cobra.Command {
	var f soakFlags
	cmd := &cobra.Command{
		Use:   "soak",
		Short: "Run right servers for a long time: none may be accused",
		Long: `Soak runs the bundled server through a suite again and again, in turn with 1, 2 and 4 replicas, under every isolation level and with every claim
strategy, each time with a
new seed. It prints runs, operations and alarms, and the 95 % bound on the rate of false alarms that follows (rule of three). The exit code is 1 after
an alarm; the run directories of alarms are kept under --out.`,
		Example: `  idemstorm soak --for 10m
  idemstorm soak --runs 200 --out runs/soak`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return soak(cmd.Context(), cmd.OutOrStdout(), f) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.length, "for", 10*time.Minute, "how long to go on beginning new runs")
	flags.IntVar(&f.runs, "runs", 0, "end after this many runs (default: no bound but --for)")
	flags.IntVar(&f.parallel, "parallel", 1, "runs at one time")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run; each further run takes the next")
	flags.StringVar(&f.suite, "suite", "full", "the scenarios to run")
	flags.StringVar(&f.out, "out", "runs/soak", "folder for the runs that raised an alarm")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress, and print only alarms, and the sum")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a run, and one with the sum")
	return cmd
}

func soak(ctx context.Context, stdout io.Writer, f soakFlags) error {
	suite, err := scenarios.Suite(f.suite)
	if err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	bar := newProgress(f.quiet || f.json)
	tally := &soakTally{w: besideProgress(bar, stdout), flags: f, bar: bar}
	rights := rightServers(suite)
	err = withTrials(ctx, trialsIn{dir: f.out, parallel: f.parallel}, func(hold harness.Trials, lab *harness.Lab) error {
		bar.Phase("soak", int64(f.runs))
		defer bar.Done()
		for end, n := time.Now().Add(f.length), 0; time.Now().Before(end) && (f.runs == 0 || n < f.runs) && ctx.Err() == nil; {
			var round []harness.Trial
			for range f.parallel {
				trial := rights[n%len(rights)]
				trial.Seed = f.seed + uint64(n)
				round = append(round, trial)
				n++
			}
			if err := hold.Hold(ctx, lab, round, tally.add); err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	})
	tally.w = stdout
	return tally.finish(err)
}

// rightServers is every scenario against every way to run the reference, in an order that changes the way with each step.
func rightServers(suite []scenarios.Scenario) []harness.Trial {
	type way struct {
		replicas            int
		isolation, strategy string
	}
	ways := []way{
		{0, "", ""}, {2, "repeatable read", ""}, {4, "read committed", ""}, {2, "serializable", ""}, {1, "read committed", ""}, {4, "serializable", ""},
	}
	for _, s := range contract.Strategies[1:] {
		ways = append(ways, way{strategy: s.Name})
	}
	var out []harness.Trial
	for i := range len(suite) * len(ways) {
		s := suite[i%len(suite)]
		w := ways[(i+i/len(suite))%len(ways)]
		s.Subject.Strategy = w.strategy
		if !s.Subject.PgBouncer { // which keeps no session, and so no level, for a client
			s.Subject.Isolation = w.isolation
		}
		if w.replicas > s.Subject.Replicas || (w.replicas > 0 && len(s.Faults) == 0) {
			s.Subject.Replicas = w.replicas // never fewer than the scenario's faults strike
		}
		out = append(out, harness.Trial{Scenario: s})
	}
	return out
}

// soakTally counts runs and alarms.
type soakTally struct {
	w                          io.Writer
	flags                      soakFlags
	bar                        *progress.Progress
	runs, alarms, inconclusive int
	operations                 int64
}

func (t *soakTally) add(d harness.Trialled) error {
	t.runs++
	t.bar.Add(1)
	t.operations += d.Run.Counts.Operations
	word := "held"
	switch d.Run.Verdict.Exit() {
	case verdict.ExitViolated:
		t.alarms++
		word = fmt.Sprintf("ALARM %v", d.Violated)
	case verdict.ExitInconclusive:
		t.inconclusive++
		word = fmt.Sprintf("inconclusive %v", d.Run.Verdict.Doubts)
	}
	if t.flags.json {
		return t.line(d)
	}
	if t.flags.quiet && d.Run.Verdict.Exit() != verdict.ExitViolated {
		return nil
	}
	s := d.Scenario.Subject
	_, err := fmt.Fprintf(t.w, "%5d  %-18s %d replica(s)  %-15s seed %-6d %s\n", t.runs, d.Scenario.Name, s.Replicas, cmp.Or(s.Strategy, s.Isolation), d.Seed, word)
	return err
}

// line is a run for other programs.
func (t *soakTally) line(d harness.Trialled) error {
	s := d.Scenario.Subject
	return json.NewEncoder(t.w).Encode(map[string]any{
		"run": t.runs, "scenario": d.Scenario.Name, "seed": d.Seed, "replicas": s.Replicas, "isolation": s.Isolation, "strategy": s.Strategy,
		"operations": d.Run.Counts.Operations, "exit": d.Run.Verdict.Exit(), "violated": d.Violated, "doubts": d.Run.Verdict.Doubts,
	})
}

// finish prints the bound: no alarm in n runs means fewer than 3/n with 95 % confidence. err is what ended the runs early, if anything
// did; after an alarm it is still said, but the alarm decides the exit code.
func (t *soakTally) finish(err error) error {
	if t.flags.json {
		sum := map[string]any{"runs": t.runs, "operations": t.operations, "alarms": t.alarms, "inconclusive": t.inconclusive}
		return cmp.Or(json.NewEncoder(t.w).Encode(sum), t.judged(err))
	}
	bound := "–"
	if t.runs > 0 && t.alarms == 0 {
		bound = fmt.Sprintf("below %.2g a run, with 95 %% confidence", 3/float64(t.runs))
	}
	fmt.Fprintf(t.w, "\n%d runs, %d operations, %d alarms, %d inconclusive; rate of false alarms: %s\n", t.runs, t.operations, t.alarms, t.inconclusive, bound)
	return t.judged(err)
}

func (t *soakTally) judged(err error) error {
	if t.alarms > 0 {
		return exitWith(verdict.ExitViolated, cmp.Or(err, errShown))
	}
	return err
}
