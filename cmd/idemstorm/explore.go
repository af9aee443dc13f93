package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/reports/progress"
)

// exploreFlags are what explore takes.
type exploreFlags struct {
	target      string // a target file; "" explores the bundled server
	foreign     lab.ForeignOptions
	lab         lab.Options
	search      explore.Options
	replicas    int
	noReduction bool
	replay      string
	crash       bool
	strike      lab.CrashOptions
	out         string
	json, quiet bool
	show        *progress.Progress
	command     string // that explores again
}

const exploreHelp = `Hold every statement of racing requests between the server and its database, and release them in every order.

Two requests are explored completely; three and more with at most --preemptions switches away from a request that could
have gone on. A violation is shown as the shortest schedule that was found. --out keeps the result in a folder: report.html, which
draws that schedule, result.json, and schedule.json, which --replay plays again.

With --crash-points every statement of one request fails instead, in every way: the connection is cut before and after it,
the database answers with an error, the server or PostgreSQL is killed. Then the same request is sent until its fate is known.

With --target it is your own server, in any language, as a file describes it, on a throwaway database.

Exit codes: 0 no order breaks an invariant; 1 one does; 2 usage; 3 the server or its database could not be started;
5 nothing broken was seen, and something kept it from being every order.`

func newExploreCommand() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use: "explore", Short: "Try every order of the statements of racing requests", Args: cobra.NoArgs,
		Long: exploreHelp,
		Example: `  idemstorm explore --variant select-then-insert --out found
  idemstorm explore --replay found/schedule.json
  idemstorm explore --crash-points --fault cut-before,cut-after
  idemstorm explore --target orders.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runExplore(cmd.Context(), cmd.OutOrStdout(), f, cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.target, "target", "", "explore the server that this file describes, see docs/target-file.md (default: the bundled server)")
	flags.StringVar(&f.lab.Variant, "variant", "", "explore this broken variant (default: the reference)")
	flags.StringVar(&f.lab.Strategy, "strategy", "", "explore the bundled server with this claim strategy (default the first): "+strings.Join(contract.StrategyNames(), ", "))
	flags.StringVar(&f.lab.Case, "case", "duplicates", "what meets: "+caseNames())
	flags.StringVar(&f.lab.Route, "route", "order", "route that the requests take: order, checkout")
	flags.IntVar(&f.lab.Requests, "requests", 0, "how many requests race (default 2; 1 beside a command)")
	flags.StringVar(&f.lab.Isolation, "isolation", "", "read committed, repeatable read or serializable (default: the database's)")
	flags.IntVar(&f.replicas, "replicas", 0, "1 puts all requests on one server process (default: one each)")
	flags.BoolVar(&f.lab.Params, "params", false, "show bound parameters; they may hold secrets")
	flags.DurationVar(&f.lab.Quiet, "quiet-after", 2*time.Second, "how long a request may do nothing outside the database")
	flags.StringVar(&f.lab.BinDir, "pg-bin", "", "folder of PostgreSQL's server programs (default: they are looked for)")
	flags.IntVar(&f.search.Preemptions, "preemptions", 2, "bound on switches away from a request that could go on; -1 for none (default: none for two that meet, 2 for more)")
	flags.IntVar(&f.search.Schedules, "schedules", 0, "stop after this many schedules (default 200,000)")
	flags.DurationVar(&f.search.Time, "time", 0, "stop after this long (default 10m)")
	flags.BoolVar(&f.search.KeepGoing, "all", false, "go on after the first violation, to see every outcome")
	flags.BoolVar(&f.noReduction, "no-reduction", false, "play orders too that differ only in steps that commute")
	flags.StringVar(&f.replay, "replay", "", "play the schedule of this file again (default: explore)")
	f.strikeFlags(cmd)
	flags.StringVar(&f.out, "out", "", "folder for report.html, result.json and schedule.json (default: none are written)")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress, and print the result in one line")
	return cmd
}

func (f *exploreFlags) strikeFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.crash, "crash-points", false, "fail at every statement of one request instead, in every way")
	flags.StringSliceVar(&f.strike.Faults, "fault", nil, "with --crash-points: strike with these faults only (default: all but hang, which waits for a deadline each time)")
	flags.BoolVar(&f.strike.Cross, "cross", false, "with --crash-points: while a duplicate is on its way")
	flags.BoolVar(&f.strike.Replayed, "replayed", false, "with --crash-points: strike a duplicate of a completed request")
}

func caseNames() string {
	var names []string
	for _, c := range lab.Cases {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// complete fills in what follows from other flags, and refuses what does not fit.
func (f *exploreFlags) complete(cmd *cobra.Command) error {
	if !slices.Contains([]int{0, 1}, f.replicas) {
		return fmt.Errorf("--replicas %d: either 1 for all requests, or 0 for one each", f.replicas)
	}
	if f.replay != "" && f.out != "" {
		return errors.New("--out beside --replay: a replay finds nothing new to keep; leave --out away")
	}
	f.lab.Shared = f.replicas == 1
	f.command = commandAgain(cmd)
	f.search.Reduce, f.search.Symmetry = !f.noReduction, !f.noReduction
	if f.target != "" {
		return f.completeForeign(cmd)
	}
	if !cmd.Flags().Changed("preemptions") {
		f.search.Preemptions = usualPreemptions(f.lab.Actors())
	}
	if f.crash {
		f.lab.StaleAfter, f.lab.Deadline = crashStaleAfter, crashDeadline
	}
	return errors.Join(f.lab.Validate(), f.strike.Validate())
}

// usualPreemptions is the bound where none is given: none for two that meet, since they can be explored to the end.
func usualPreemptions(actors int) int {
	if actors <= 2 {
		return schedule.Unbounded
	}
	return 2
}

// What crash points are struck with: a claim that was abandoned is to be found so soon.
const (
	crashStaleAfter = 300 * time.Millisecond
	crashDeadline   = 2 * time.Second
)

func runExplore(ctx context.Context, w io.Writer, f exploreFlags, cmd *cobra.Command) error {
	var saved *schedule.Schedule
	if f.replay != "" {
		var err error
		if saved, err = schedule.Load(f.replay); err != nil {
			return exitWith(exitUsage, err)
		}
		f.target = cmp.Or(f.target, saved.Setup["target"])
	}
	if err := f.complete(cmd); err != nil {
		return exitWith(exitUsage, err)
	}
	if saved != nil {
		f.lab, f.foreign = f.lab.FromSetup(saved.Setup), f.foreign.FromSetup(saved.Setup)
	}
	f.show = newProgress(f.quiet || f.json)
	f.show.Phase("start", 0)
	l, clean, err := f.open(ctx)
	f.show.Done()
	if err != nil {
		return exitWith(exitUnreachable, err)
	}
	code, err := 0, error(nil)
	switch {
	case saved != nil:
		code, err = replaySchedule(ctx, w, l, saved, f)
	case f.crash:
		code, err = crashAll(ctx, w, l, f)
	default:
		code, err = exploreAll(ctx, w, l, f)
	}
	if err := errors.Join(err, clean()); err != nil {
		return exitWith(exitUnreachable, err)
	}
	if code != 0 {
		return exitWith(code, errShown)
	}
	return nil
}

func exploreAll(ctx context.Context, w io.Writer, l explorable, f exploreFlags) (code int, err error) {
	f.show.Phase("orders", 0)
	f.search.Progress = func(explore.Progress) { f.show.Add(1) }
	result, err := l.Explore(ctx, f.search)
	f.show.Done()
	if err != nil && !errors.Is(err, context.Canceled) {
		return 0, err
	}
	result.Command = f.command
	if f.out != "" && result.Schedule != nil {
		result.Reproduce = "idemstorm explore --replay " + shellQuote(filepath.Join(f.out, scheduleFile))
	}
	return result.Exit(), errors.Join(saveExploration(f.out, result), showExploration(w, result, f))
}

func crashAll(ctx context.Context, w io.Writer, l explorable, f exploreFlags) (code int, err error) {
	result, err := f.strikeAll(ctx, l)
	if err != nil {
		return 0, err
	}
	result.Command = f.command
	err = saveCrashes(f.out, result)
	switch {
	case f.json:
		return result.Exit(), errors.Join(err, printJSON(w, result))
	case f.quiet:
		_, shown := fmt.Fprintln(w, result.Sentence())
		return result.Exit(), errors.Join(err, shown)
	}
	return result.Exit(), errors.Join(err, reports.WriteCrashes(w, result), showPlace(w, f.out))
}

// strikeAll learns only on the way how many points there are, so that the phase of the striking begins with the first.
func (f exploreFlags) strikeAll(ctx context.Context, l explorable) (schedule.CrashResult, error) {
	f.show.Phase("learn the statements", 0)
	defer f.show.Done()
	f.strike.Progress = func(done, of int) {
		if done == 1 {
			f.show.Phase("crash points", int64(of))
		}
		f.show.Add(1)
	}
	return l.Crash(ctx, f.strike)
}

func showExploration(w io.Writer, result schedule.Result, f exploreFlags) error {
	if f.json {
		return printJSON(w, result)
	}
	if f.quiet {
		_, err := fmt.Fprintln(w, result.Sentence())
		return err
	}
	if err := reports.WriteExploration(w, result); err != nil {
		return err
	}
	if result.Schedule != nil {
		fmt.Fprintln(w)
		if err := reports.WriteSchedule(w, result.Schedule); err != nil {
			return err
		}
	}
	if result.Reproduce != "" {
		fmt.Fprintf(w, "\nPlay it again: %s\n", result.Reproduce)
	}
	return showPlace(w, f.out)
}

// showPlace says where the files are, if there are any.
func showPlace(w io.Writer, dir string) error {
	if dir == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nReport: %s\n", filepath.Join(dir, reports.HTMLFile))
	return err
}

// replaySchedule plays a saved schedule again. One that does not fit any more is inconclusive, not clean.
func replaySchedule(ctx context.Context, w io.Writer, l explorable, s *schedule.Schedule, f exploreFlags) (code int, err error) {
	scenario, err := l.Scenario()
	if err != nil {
		return 0, err
	}
	again, err := explore.Replay(ctx, l.System(scenario), s)
	if errors.Is(err, explore.ErrDiverged) {
		fmt.Fprintln(w, err)
		fmt.Fprintln(w, "If the server was changed since, this order is no longer one of its own: search all of them again, by the same command without --replay.")
		return 5, nil
	}
	if err != nil {
		return 0, err
	}
	if f.json {
		err = printJSON(w, again)
	} else {
		err = reports.WriteSchedule(w, again)
	}
	if len(again.Outcome.Violated) > 0 {
		return 1, err
	}
	return 0, err
}
