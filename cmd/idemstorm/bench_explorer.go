package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// explorerFlags are what `bench explorer` can be told.
type explorerFlags struct {
	strategies []string
	runs       int
	binDir     string
}

func newBenchExplorerCommand() *cobra.Command {
	f := explorerFlags{strategies: []string{contract.Strategies[0].Name}}
	cmd := &cobra.Command{
		Use:   "explorer",
		Short: "Measure the wire explorer: schedules of two duplicates a second",
		Long: `Bench explorer explores every order of two duplicates' statements to the end, again and again, and says how many schedules a second are played and
judged. docs/bench/explorer.sh holds a schedule against the same two requests uncontrolled, and has three duplicates, isolation
levels and crash points.

Exit codes: 0 measured · 1 an order broke an invariant · 2 usage · 3 server or database not reachable · 5 not every order was explored.`,
		Example: `  idemstorm bench explorer
  idemstorm bench explorer --strategies insert-first,insert-or-read --runs 6`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return benchExplorer(cmd.Context(), cmd.OutOrStdout(), f) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.strategies, "strategies", f.strategies, "claim strategies to explore")
	flags.IntVar(&f.runs, "runs", 10, fmt.Sprintf("how often each is explored; an interval needs %d", bench.LeastRuns))
	flags.StringVar(&f.binDir, "pg-bin", "", "folder of PostgreSQL's server programs (default: they are looked for)")
	return cmd
}

func (f explorerFlags) check() error {
	if f.runs < 1 || f.runs > 1000 {
		return fmt.Errorf("--runs: %d is not between 1 and 1000", f.runs)
	}
	for i, name := range f.strategies {
		s, known := contract.FindStrategy(name)
		switch {
		case !known || name == "":
			return fmt.Errorf("--strategies: %q is none of %v", name, contract.StrategyNames())
		case s.Redis:
			return fmt.Errorf("--strategies: %s decides where no statement is seen, and cannot be explored", name)
		case slices.Contains(f.strategies[:i], name):
			return fmt.Errorf("--strategies: %s is named twice", name)
		}
	}
	return nil
}

func benchExplorer(ctx context.Context, stdout io.Writer, f explorerFlags) error {
	if err := f.check(); err != nil {
		return exitWith(exitUsage, err)
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "strategy\tschedules\tof\tschedules/s\t95 % interval\tms a schedule")
	worst := verdict.ExitHeld
	for _, name := range f.strategies {
		exit, err := f.explore(ctx, table, name)
		if ctx.Err() != nil {
			return exitWith(verdict.ExitInconclusive, errors.Join(errors.New("interrupted: the explorations that had not ended count for nothing"), table.Flush()))
		}
		if err != nil {
			return exitWith(exitUnreachable, errors.Join(fmt.Errorf("bench explorer: %s: %w", name, err), table.Flush()))
		}
		if worst == verdict.ExitHeld || exit == verdict.ExitViolated {
			worst = exit
		}
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	if worst != verdict.ExitHeld {
		return exitWith(worst, errShown)
	}
	return nil
}

// explore measures one strategy in one lab, which an exploration before the first warms up.
func (f explorerFlags) explore(ctx context.Context, w io.Writer, strategy string) (exit int, err error) {
	l, clean, err := openLab(ctx, lab.Options{Strategy: strategy, BinDir: f.binDir})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close(ctx), clean()) }()
	var rates []float64
	var last schedule.Result
	for run := range f.runs + 1 {
		last, err = l.Explore(ctx, explore.Options{Preemptions: schedule.Unbounded, Reduce: true, Symmetry: true})
		if err != nil || ctx.Err() != nil {
			return 0, err
		}
		if exit = last.Exit(); exit != verdict.ExitHeld {
			break
		}
		if run > 0 {
			rates = append(rates, float64(last.Schedules)/last.Took.Seconds())
		}
	}
	explorerLine(w, strategy, last, bench.Middle(rates))
	return exit, nil
}

// explorerLine is one line of the table.
func explorerLine(w io.Writer, strategy string, last schedule.Result, rate bench.Interval) {
	figure, interval, each := "–", "–", "–"
	if rate.Runs > 0 {
		figure = fmt.Sprintf("%.0f", rate.Value)
		each = fmt.Sprintf("%.2f", float64(time.Second.Milliseconds())/rate.Value)
	}
	if rate.Known {
		interval = fmt.Sprintf("%.0f to %.0f", rate.Low, rate.High)
	}
	fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\n", strategy, last.Schedules, last.Claim(), figure, interval, each)
}
