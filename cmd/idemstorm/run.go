package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
	"github.com/idemstorm/idemstorm/target/zoo"
)

// runFlags are what `run` can be told.
type runFlags struct {
	suite, variant, strategy, dsn, pgBin, out, junit, metrics, plan string
	replicas                                                        int
	seed                                                            uint64
	duration                                                        time.Duration
	rate                                                            float64
	quiet, json, noCanary                                           bool
	foreign                                                         targetFlags
}

func newRunCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [SCENARIO…]",
		Short: "Storm a server and say what held",
		Long: `Run starts the server under test on a PostgreSQL, drives scenarios against it, reads the rows they left behind and says which
invariants held. A SCENARIO is the name of a built-in one (see "idemstorm scenarios list") or a YAML file.

Exit codes: 0 held · 1 an invariant was violated · 2 usage · 3 target or database not reachable · 4 a latency gate failed · 5 inconclusive.`,
		Example: `  idemstorm run duplicate-key-race
  idemstorm run --suite quick --out runs/nightly --junit junit.xml
  idemstorm run body-mismatch --variant no-body-hash
  idemstorm run my-scenario.yaml --dsn postgres://localhost/postgres --seed 7
  idemstorm run --target my-service.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runScenarios(cmd.Context(), cmd.OutOrStdout(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.suite, "suite", "", "run every built-in scenario of a suite (default: those named): quick, race, crash, outage, luck, full")
	flags.StringVar(&f.variant, "variant", "", "run a broken variant of the bundled server, see idemstorm zoo list (default: the reference)")
	flags.StringVar(&f.strategy, "strategy", "", "let the bundled server claim by this strategy (default: what the scenario says): "+strings.Join(contract.StrategyNames(), ", "))
	flags.StringVar(&f.dsn, "dsn", "", "use this PostgreSQL server, in a database of our own (default: a throwaway server)")
	flags.StringVar(&f.pgBin, "pg-bin", "", "folder of PostgreSQL's server programs (default: they are looked for)")
	flags.StringVar(&f.out, "out", "", "folder for the results (default runs/TIME-NAME)")
	flags.StringVar(&f.junit, "junit", "", "write JUnit results of all scenarios to this file as well (default: to the results' folder alone)")
	flags.StringVar(&f.metrics, "metrics", "", "write the results as Prometheus metrics to this file, for node_exporter's textfile collector (default: none)")
	flags.IntVar(&f.replicas, "replicas", 0, "server processes (default: what the scenario says)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the plan (default: a random one, printed)")
	flags.StringVar(&f.plan, "plan", "", "beginning of the plan's digest: refuse to run when the seed gives another plan by now (default: any plan)")
	flags.DurationVar(&f.duration, "duration", 0, "length of open-loop phases (default: what the scenario says)")
	flags.Float64Var(&f.rate, "rate", 0, "arrivals a second of open-loop phases (default: what the scenario says)")
	f.foreign.add(cmd)
	flags.BoolVar(&f.noCanary, "no-canary", false, "with --suite: do not first run a broken server that must be convicted")
	flags.BoolVar(&f.quiet, "quiet", false, "print the final verdict only")
	flags.BoolVar(&f.json, "json", false, "print what happens as JSON, one event a line (docs/schema/run-event.json), instead of tables")
	return cmd
}

// runScenarios runs the chosen scenarios one after the other on one PostgreSQL and reports them together.
func runScenarios(ctx context.Context, stdout io.Writer, f runFlags, args []string) error {
	if err := f.loadTarget(); err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	chosen, err := f.choose(args)
	if err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	if _, known := contract.FindStrategy(f.strategy); !known {
		return exitWith(verdict.ExitUsage, fmt.Errorf("--strategy: %q is none of %s", f.strategy, strings.Join(contract.StrategyNames(), ", ")))
	}
	if f.seed == 0 {
		f.seed = randomSeed()
	}
	out := newOutput(stdout, f)
	f.announce(stdout)
	if out.events == nil {
		return f.runChosen(ctx, out, chosen)
	}
	out.events.start(namesOf(chosen), f.seed)
	err = f.runChosen(ctx, out, chosen)
	out.events.end(out.dir, err)
	return errors.Join(err, out.events.err)
}

// runChosen holds the database for as long as the scenarios need it.
func (f runFlags) runChosen(ctx context.Context, out *output, chosen []chosenScenario) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file: %w", err)
	}
	lab, err := f.openLab(ctx)
	if err != nil {
		return stoppedOr(ctx, unreachable(err))
	}
	runs, err := f.runAll(ctx, lab, out, exe, chosen)
	if err = errors.Join(err, lab.Close(), out.finish(runs)); err != nil {
		return stoppedOr(ctx, unreachable(err))
	}
	return judged(runs)
}

// tell shows people a line that is no result.
func tell(line string) { fmt.Fprintln(os.Stderr, "idemstorm:", line) }

func (f runFlags) runAll(ctx context.Context, lab *harness.Lab, out *output, exe string, chosen []chosenScenario) ([]verdict.Run, error) {
	canary, err := f.canary(ctx, lab, out, exe)
	if err != nil {
		return nil, err
	}
	var runs []verdict.Run
	for _, c := range chosen {
		run, err := harness.Run(ctx, lab, harness.Options{
			Scenario: c.Scenario, Ref: c.ref, Exe: exe, Variant: f.variant, Strategy: f.strategy, Replicas: f.replicas, Seed: f.seed,
			Duration: f.duration, Rate: f.rate, Plan: f.plan, Among: len(chosen) > 1, Target: f.foreign.target, Caps: f.foreign.caps(),
			Dir: filepath.Join(out.dir, c.Name), Progress: out.progress(c.Name), Canary: canary,
		})
		if err != nil {
			return runs, fmt.Errorf("%s: %w", c.Name, err)
		}
		runs = append(runs, run)
		if err := out.scenario(run); err != nil {
			return runs, err
		}
		if ctx.Err() != nil {
			return runs, nil
		}
	}
	return runs, nil
}

// canary runs the broken server that a suite must convict before its silence means anything.
func (f runFlags) canary(ctx context.Context, lab *harness.Lab, out *output, exe string) (harness.Canary, error) {
	if f.suite == "" || f.noCanary {
		return harness.Canary{Off: f.noCanary}, nil
	}
	scenario, err := scenarios.Find(zoo.Canary.Scenario)
	if err != nil {
		return harness.Canary{}, err
	}
	show := out.progress("canary")
	show.Phase(zoo.Canary.Name, 0)
	defer show.Done()
	trials := harness.Trials{Exe: exe, Dir: filepath.Join(out.dir, "canary"), Keep: true}
	return trials.Sing(ctx, lab, harness.Trial{
		Variant: zoo.Canary.Name, Scenario: scenario, Invariant: zoo.Canary.Invariant, Seed: f.seed,
	})
}

// chosenScenario is a scenario and how the user named it.
type chosenScenario struct {
	scenarios.Scenario
	ref string
}

func (f *runFlags) choose(args []string) ([]chosenScenario, error) {
	if f.foreign.target != nil {
		return f.chooseForTarget(args)
	}
	var out []chosenScenario
	if f.suite != "" {
		suite, err := scenarios.Suite(f.suite)
		if err != nil {
			return nil, err
		}
		for _, s := range suite {
			out = append(out, chosenScenario{s, s.Name})
		}
	}
	for _, arg := range args {
		s, err := scenarios.Find(arg)
		if err != nil {
			return nil, err
		}
		out = append(out, chosenScenario{s, arg})
	}
	if len(out) == 0 {
		return nil, errors.New("nothing to run: name a scenario (idemstorm scenarios list) or a suite (--suite quick)")
	}
	return out, f.check(out)
}

func namesOf(chosen []chosenScenario) (names []string) {
	for _, c := range chosen {
		names = append(names, c.Name)
	}
	return names
}

// check refuses flags that cannot be meant.
func (f runFlags) check(chosen []chosenScenario) error {
	switch {
	case f.replicas < 0 || f.replicas > 16:
		return fmt.Errorf("--replicas: %d is not between 1 and 16", f.replicas)
	case f.duration < 0:
		return fmt.Errorf("--duration: %v is negative", f.duration)
	case f.rate < 0:
		return fmt.Errorf("--rate: %v is negative", f.rate)
	}
	if f.variant != "" {
		if _, err := zoo.Find(f.variant); err != nil {
			return fmt.Errorf("--variant: %w", err)
		}
	}
	seen := map[string]bool{}
	for _, c := range chosen {
		if seen[c.Name] {
			return fmt.Errorf("%s is named twice; its results would overwrite each other", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// unreachable gives errors about the target or its database their exit code.
func unreachable(err error) error {
	switch {
	case errors.Is(err, harness.ErrUnreachable):
		return exitWith(verdict.ExitUnreachable, err)
	case errors.Is(err, harness.ErrOtherPlan), errors.Is(err, harness.ErrTargetFile):
		return exitWith(verdict.ExitUsage, err)
	}
	return err
}

// stoppedOr tells a run that a signal stopped before it could be judged from one whose database is not there.
func stoppedOr(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &exitError{verdict.ExitInconclusive, fmt.Errorf("interrupted before it could be judged: %w", err)}
}

// judged is nil when everything held; otherwise it only carries the exit code: the verdict has been shown already.
func judged(runs []verdict.Run) error {
	var verdicts []verdict.Verdict
	for _, r := range runs {
		verdicts = append(verdicts, r.Verdict)
	}
	if code := verdict.Exit(verdicts); code != verdict.ExitHeld {
		return exitWith(code, errShown)
	}
	return nil
}

func randomSeed() uint64 {
	var b [4]byte // short enough to type
	_, _ = rand.Read(b[:])
	return uint64(binary.LittleEndian.Uint32(b[:])) + 1
}
