package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/bench/claim"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/reports/progress"
)

// benchFlags are what `bench claim` can be told.
type benchFlags struct {
	grid, out string
	filter    bench.Grid
	options   claim.Options
	quiet     bool
	noFloor   bool
}

func newBenchClaimCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "claim",
		Short: "Measure the claim strategies against each other and against pgbench",
		Long: `Bench claim measures claim strategies on the bundled server and a throwaway PostgreSQL: the latency of winners, losers and replays apart,
throughput, and what a request costs the database. Every cell of the grid is measured once a run, in another order in every run; the first strategy is
the reference, and is measured twice: how far its two figures differ is the noise, inside which no verdict is given. See docs/bench.md.

Exit codes: 0 measured · 1 a key was executed twice · 2 usage · 3 server or database not reachable · 5 interrupted.`,
		Example: `  idemstorm bench claim
  idemstorm bench claim --strategies insert-first,redis --clients 32 --duplicates 8 --handler 100ms --duration 2s
  idemstorm bench claim --grid full --out runs/claim-full
  idemstorm compare runs/before runs/after --max-p99-regression 10%`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return benchClaim(cmd.Context(), cmd.OutOrStdout(), f) },
	}
	f.register(cmd)
	return cmd
}

func (f *benchFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.grid, "grid", "quick", "quick (a few minutes) or full (hours); the flags below replace its dimensions")
	flags.StringSliceVar(&f.filter.Strategies, "strategies", nil, "the reference first (default: all of them: "+strings.Join(contract.StrategyNames(), ", ")+")")
	flags.IntSliceVar(&f.filter.Clients, "clients", nil, "callers at work, each with one key at a time (default: the grid's)")
	flags.IntSliceVar(&f.filter.Duplicates, "duplicates", nil, "requests a key, sent at one instant (default: the grid's)")
	flags.DurationSliceVar(&f.filter.Handler, "handler", nil, "time that the server's handler takes before its transaction (default: the grid's)")
	flags.StringSliceVar(&f.filter.SyncCommit, "sync-commit", nil, "PostgreSQL's synchronous_commit: on, off (default: the grid's)")
	flags.IntVar(&f.options.Runs, "runs", 10, fmt.Sprintf("how often every cell is measured; an interval needs %d", bench.LeastRuns))
	flags.DurationVar(&f.options.Measure, "duration", 0, "about how long one measurement takes (default 500ms; full: 2s)")
	flags.DurationVar(&f.options.Warm, "warm-up", 250*time.Millisecond, "time before a measurement that is not counted")
	flags.IntVar(&f.options.Pool, "pool", 32, "connections of each of the server's two pools")
	flags.BoolVar(&f.noFloor, "no-pgbench", false, "do not measure pgbench beside the server")
	flags.Uint64Var(&f.options.Seed, "seed", 0, "seed of the order and of all keys (default: a random one)")
	flags.StringVar(&f.options.DSN, "dsn", "", "use this PostgreSQL server, in databases of our own (default: a throwaway server)")
	flags.StringVar(&f.options.BinDir, "pg-bin", "", "folder of PostgreSQL's server programs (default: they are looked for)")
	flags.StringVar(&f.out, "out", "", "folder for the results (default runs/TIME-bench)")
	flags.BoolVar(&f.quiet, "quiet", false, "print no progress and no tables")
}

// complete chooses the grid and fills in what was left out.
func (f *benchFlags) complete() (err error) {
	o := &f.options
	if o.Grid, err = f.chosenGrid(); err != nil {
		return err
	}
	if o.Measure == 0 {
		o.Measure = 500 * time.Millisecond
		if f.grid == "full" {
			o.Measure = 2 * time.Second
		}
	}
	if o.Seed == 0 {
		o.Seed = randomSeed()
	}
	if f.out == "" {
		f.out = filepath.Join("runs", time.Now().Format("20060102-150405")+"-bench")
	}
	if o.Exe, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program's own file: %w", err)
	}
	o.Tool, o.Environment = harness.Version(), harness.Environment
	return o.Validate()
}

func (f *benchFlags) chosenGrid() (g bench.Grid, err error) {
	switch f.grid {
	case "quick":
		g = bench.Quick()
	case "full":
		g = bench.Full()
	default:
		return g, fmt.Errorf("--grid: %q is neither quick nor full", f.grid)
	}
	g.Floor = !f.noFloor
	replace(&g.Strategies, f.filter.Strategies)
	replace(&g.Clients, f.filter.Clients)
	replace(&g.Duplicates, f.filter.Duplicates)
	replace(&g.Handler, f.filter.Handler)
	replace(&g.SyncCommit, f.filter.SyncCommit)
	return g, nil
}

// replace takes what was asked for, if anything was.
func replace[T any](dimension *[]T, asked []T) {
	if asked != nil {
		*dimension = slices.Clone(asked)
	}
}

func benchClaim(ctx context.Context, stdout io.Writer, f benchFlags) error {
	if err := f.complete(); err != nil {
		return exitWith(exitUsage, err)
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return exitWith(exitUsage, fmt.Errorf("make the folder of the results: %w", err))
	}
	show := progress.New(os.Stderr, progress.Options{Terminal: term.IsTerminal(int(os.Stderr.Fd())), Quiet: f.quiet})
	f.options.Progress = show
	result, err := claim.Run(ctx, f.options)
	show.Done()
	if len(result.Measurements) > 0 {
		err = errors.Join(err, f.report(stdout, result))
	} else {
		_ = os.Remove(f.out) // goes only when it is empty
	}
	return benchExit(result, err)
}

// report writes the files and shows the table.
func (f *benchFlags) report(stdout io.Writer, result bench.Result) error {
	if err := reports.SaveBench(f.out, result); err != nil {
		return err
	}
	if f.quiet {
		return nil
	}
	if err := reports.WriteBench(stdout, terminal(), result); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nReport: %s · raw: %s · for benchstat: %s\n", filepath.Join(f.out, reports.BenchHTMLFile),
		filepath.Join(f.out, bench.File), filepath.Join(f.out, reports.BenchTextFile))
	return err
}

// errBenchInterrupted ends a benchmark that a signal stopped.
var errBenchInterrupted = errors.New("interrupted: what had been measured is kept, and marked so")

func benchExit(result bench.Result, err error) error {
	switch {
	case errors.Is(err, claim.ErrViolated):
		return exitWith(verdict.ExitViolated, err)
	case errors.Is(err, claim.ErrUnreachable):
		return exitWith(exitUnreachable, err)
	case err != nil:
		return exitWith(exitUnreachable, fmt.Errorf("bench claim: %w", err))
	case result.Interrupted:
		return exitWith(verdict.ExitInconclusive, errBenchInterrupted)
	}
	return nil
}
