package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/scenarios"
	"github.com/idemstorm/idemstorm/target/zoo"
)

func newZooCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "zoo",
		Short: "Broken variants of the bundled server: list them, and show that each is caught",
		Long: `The zoo holds broken variants of the bundled server, each with one part replaced by a mistake that people make. That each is caught, every
time, is what a clean verdict rests on.`,
		Example: `  idemstorm zoo list
  idemstorm zoo run --runs 20
  idemstorm zoo explore`,
	}
	cmd.AddCommand(newZooListCommand(), newZooRunCommand(), newZooExploreCommand(), newZooRecordCommand())
	return cmd
}

func newZooListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the variants: what each breaks, what must catch it, and how people come to write it",
		Long: `List prints each variant with the invariant that it breaks, the scenario that must catch it, and how people come to write it. With --json also its
class, a public example and the command by which the explorer finds it.`,
		Example: `  idemstorm zoo list
  idemstorm zoo list --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return listVariantsJSON(cmd.OutOrStdout())
			}
			var entries []reports.Listed
			for _, v := range zoo.All {
				entries = append(entries, reports.Listed{Cells: []string{v.Name, v.Invariant, v.Scenario}, Text: v.Story})
			}
			return reports.WriteListing(cmd.OutOrStdout(), terminal(), entries)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a variant")
	return cmd
}

func listVariantsJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	for _, v := range zoo.All {
		err := e.Encode(map[string]string{
			"variant": v.Name, "class": v.Class, "story": v.Story, "invariant": v.Invariant, "scenario": v.Scenario, "seen": v.Seen,
			"explore": howExplored(v),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// zooFlags are what `zoo run` can be told.
type zooFlags struct {
	seed           uint64
	runs, parallel int
	all, json      bool
	quiet          bool
	dsn, pgBin     string
	out            string
}

func newZooRunCommand() *cobra.Command {
	var f zooFlags
	cmd := &cobra.Command{
		Use:   "run [VARIANT…]",
		Short: "Run every variant against its scenario: each must be convicted of what it breaks",
		Long: `Run holds every variant, or those named, against the scenario that must catch it, and prints what was violated, after how many operations and
how long. The exit code is 0 when every variant was convicted of the invariant it breaks, and 1 when one escaped.`,
		Example: `  idemstorm zoo run
  idemstorm zoo run select-then-insert no-fence --runs 20
  idemstorm zoo run --json --seed 7`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runZoo(cmd.Context(), cmd.OutOrStdout(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run; each further run takes the next")
	flags.IntVar(&f.runs, "runs", 1, "runs of each variant, with different seeds")
	flags.IntVar(&f.parallel, "parallel", runtime.NumCPU(), "variants at one time")
	flags.BoolVar(&f.all, "all", false, "run every variant against every scenario, and show the matrix")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a run")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress, and print only the runs that escaped, and the sum")
	flags.StringVar(&f.dsn, "dsn", "", "use this PostgreSQL server (default: a throwaway one)")
	flags.StringVar(&f.pgBin, "pg-bin", "", "folder of PostgreSQL's server programs (default: they are looked for)")
	flags.StringVar(&f.out, "out", "", "keep the run directories of variants that escaped here (default: none are kept)")
	return cmd
}

func runZoo(ctx context.Context, stdout io.Writer, f zooFlags, names []string) error {
	trials, err := f.trials(names)
	if err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	bar := newProgress(f.quiet || f.json)
	show := newZooTable(besideProgress(bar, stdout), f)
	in := trialsIn{dir: f.out, parallel: f.parallel, lab: harness.LabOptions{DSN: f.dsn, BinDir: f.pgBin}}
	err = withTrials(ctx, in, func(hold harness.Trials, lab *harness.Lab) error {
		bar.Phase("zoo", int64(len(trials)))
		defer bar.Done()
		return hold.Hold(ctx, lab, trials, func(t harness.Trialled) error {
			bar.Add(1)
			return show.add(t)
		})
	})
	show.w = stdout
	if err = errors.Join(err, show.finish()); err != nil {
		return err
	}
	if show.escaped > 0 {
		return exitWith(verdict.ExitViolated, errShown)
	}
	return nil
}

// trials are the runs to hold: each variant against its own scenario, or with --all against each.
func (f zooFlags) trials(names []string) ([]harness.Trial, error) {
	all, err := scenarios.All()
	if err != nil {
		return nil, err
	}
	variants, err := chooseVariants(names)
	if err != nil {
		return nil, err
	}
	var out []harness.Trial
	for run := range max(1, f.runs) {
		for _, v := range variants {
			for _, s := range all {
				if f.all || s.Name == v.Scenario {
					out = append(out, harness.Trial{Variant: v.Name, Scenario: s, Invariant: v.Invariant, Seed: f.seed + uint64(run)})
				}
			}
		}
	}
	return out, nil
}

func chooseVariants(names []string) ([]zoo.Variant, error) {
	if len(names) == 0 {
		return zoo.All, nil
	}
	var out []zoo.Variant
	for _, name := range names {
		v, err := zoo.Find(name)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// zooTable prints trials as they end.
type zooTable struct {
	w        io.Writer
	flags    zooFlags
	began    time.Time
	held     int
	escaped  int
	detected []time.Duration
}

func newZooTable(w io.Writer, f zooFlags) *zooTable {
	return &zooTable{w: w, flags: f, began: time.Now()}
}

func (z *zooTable) add(t harness.Trialled) error {
	z.held++
	own := !z.flags.all || ownScenario(t)
	if own && !t.Right {
		z.escaped++
	}
	if t.Right {
		z.detected = append(z.detected, detection(t))
	}
	if z.flags.json {
		return json.NewEncoder(z.w).Encode(map[string]any{
			"variant": t.Variant, "scenario": t.Scenario.Name, "invariant": t.Invariant, "caught": t.Right, "violated": t.Violated, "seed": t.Seed,
			"first_ns": t.FirstNS, "first_operations": t.FirstOps, "took_ns": t.Took, "tries": t.Tries, "doubts": t.Run.Verdict.Doubts,
		})
	}
	if z.flags.quiet && (t.Right || !own) {
		return nil
	}
	_, err := fmt.Fprintf(z.w, "%s %-27s %-18s %-17s %5d ops %7s seed %d%s\n",
		mark(t.Right, own), t.Variant, t.Scenario.Name, t.Invariant, t.FirstOps, brief(detection(t)), t.Seed, others(t))
	return err
}

// brief is a time in at most seven characters, for a table that fits 100 columns.
func brief(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// detection is how long the violation took to be there: until the end of the traffic when only rows tell.
func detection(t harness.Trialled) time.Duration {
	if t.FirstNS == 0 {
		return t.Run.Took
	}
	return time.Duration(t.FirstNS)
}

func ownScenario(t harness.Trialled) bool {
	v, err := zoo.Find(t.Variant)
	return err == nil && v.Scenario == t.Scenario.Name
}

func mark(right, own bool) string {
	switch {
	case right:
		return "✓ caught "
	case own:
		return "✗ ESCAPED"
	}
	return "– not by "
}

// others names what was violated beside the invariant that was to be, and says when a run had to be repeated.
func others(t harness.Trialled) string {
	text := ""
	if rest := slices.DeleteFunc(slices.Clone(t.Violated), func(id string) bool { return id == t.Invariant }); len(rest) > 0 {
		text = "\n          also " + strings.Join(rest, ", ")
	}
	if t.Tries > 1 {
		text += fmt.Sprintf("\n          run %d: the ones before could not be trusted", t.Tries)
	}
	if doubts := t.Run.Verdict.Doubts; len(doubts) > 0 && !t.Right {
		text += "\n          " + strings.Join(doubts, "; ")
	}
	return text
}

func (z *zooTable) finish() error {
	if z.flags.json || z.held == 0 {
		return nil
	}
	slices.Sort(z.detected)
	var median, longest time.Duration
	if n := len(z.detected); n > 0 {
		median, longest = z.detected[n/2], z.detected[n-1]
	}
	_, err := fmt.Fprintf(z.w, "\n%d runs, %d caught, %d escaped; time to detection: median %v, longest %v; %v in all\n",
		z.held, len(z.detected), z.escaped, median.Round(time.Millisecond), longest.Round(time.Millisecond), time.Since(z.began).Round(time.Second))
	return err
}
