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
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/target/zoo"
)

// zooExploreFlags are what `zoo explore` can be told.
type zooExploreFlags struct {
	runs, parallel int
	checkReduction bool
	json, quiet    bool
	exe, pgBin     string
}

func newZooExploreCommand() *cobra.Command {
	var f zooExploreFlags
	cmd := &cobra.Command{
		Use:   "explore [VARIANT…]",
		Short: "Convict variants without luck: by every order of their statements, and a failure at each",
		Long: `Explore holds every variant, or those named, in the constellation that shows its fault, and searches the orders of its statements, or the
failures at each of them, until one breaks an invariant. A search that is repeated has to find the same counterexample again:
the same statements of the same requests in the same order, with the same outcome.

A variant that no order and no failure shows is left out; zoo run is for those.

Exit codes: 0 every variant was convicted, by the same counterexample in every run; 1 one escaped, or its counterexample differed; 2 usage;
3 a server or its database could not be started.`,
		Example: `  idemstorm zoo explore
  idemstorm zoo explore select-then-insert no-fence --runs 50
  idemstorm zoo explore --check-reduction`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runZooExplore(cmd.Context(), cmd.OutOrStdout(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.runs, "runs", 1, "searches of each variant")
	flags.IntVar(&f.parallel, "parallel", runtime.NumCPU(), "variants at one time")
	flags.BoolVar(&f.checkReduction, "check-reduction", false, "explore to the end instead, with and without leaving out orders, and compare what came of it")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a variant")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress, and print only the variants that did not come out as they should")
	flags.StringVar(&f.pgBin, "pg-bin", "", "folder of PostgreSQL's server programs (default: they are looked for)")
	return cmd
}

func runZooExplore(ctx context.Context, w io.Writer, f zooExploreFlags, names []string) error {
	variants, err := chooseExplorable(names)
	if err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	if f.runs < 1 || f.parallel < 1 {
		return exitWith(verdict.ExitUsage, fmt.Errorf("--runs %d, --parallel %d: at least one of each", f.runs, f.parallel))
	}
	held := func(ctx context.Context, v zoo.Variant) (explored, error) { return f.convict(ctx, v) }
	if f.checkReduction {
		variants, held = reducible(variants), f.compare
	}
	bar := newProgress(f.quiet || f.json)
	bar.Phase("zoo", int64(len(variants)))
	wrong, err := f.hold(ctx, besideProgress(bar, w), variants, func(ctx context.Context, v zoo.Variant) (explored, error) {
		defer bar.Add(1)
		return held(ctx, v)
	})
	bar.Done()
	if err != nil {
		return exitWith(exitUnreachable, err)
	}
	if wrong > 0 {
		return exitWith(verdict.ExitViolated, errShown)
	}
	return nil
}

// hold explores several variants at a time, shows each as it is done, and counts those that did not come out as they should. One that could not
// be explored does not keep the others from it.
func (f zooExploreFlags) hold(ctx context.Context, w io.Writer, variants []zoo.Variant,
	one func(context.Context, zoo.Variant) (explored, error),
) (wrong int, err error) {
	var show sync.Mutex
	var group errgroup.Group
	group.SetLimit(f.parallel)
	for _, v := range variants {
		group.Go(func() error {
			r, failed := one(ctx, v)
			show.Lock()
			defer show.Unlock()
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("explore %s: %w", v.Name, failed))
				return nil
			}
			if !r.right() {
				wrong++
			}
			return f.print(w, r)
		})
	}
	unshown := group.Wait()
	return wrong, errors.Join(err, unshown)
}

// chooseExplorable are the variants that exploration convicts, or those of them that are named.
func chooseExplorable(names []string) (out []zoo.Variant, err error) {
	chosen, err := chooseVariants(names)
	if err != nil {
		return nil, err
	}
	for _, v := range chosen {
		switch {
		case v.Explore != nil:
			out = append(out, v)
		case len(names) > 0:
			return nil, fmt.Errorf("no order of statements and no failure at one shows %s: hold it to its scenario, by `idemstorm zoo run %[1]s`", v.Name)
		}
	}
	return out, nil
}

// explored is what one variant's line is made of.
type explored interface {
	right() bool
	line() string
}

func (f zooExploreFlags) print(w io.Writer, r explored) error {
	if f.json {
		return json.NewEncoder(w).Encode(r)
	}
	if f.quiet && r.right() {
		return nil
	}
	_, err := fmt.Fprintln(w, r.line())
	return err
}

// options are those of the lab on which a variant is explored.
func (f zooExploreFlags) options(v zoo.Variant) lab.Options {
	e := v.Explore
	o := lab.Options{
		Exe: f.exe, BinDir: f.pgBin, Variant: v.Name, Case: e.Case, Route: e.Route, Requests: e.Requests, Shared: e.Shared,
	}
	if len(e.Faults) > 0 {
		o.StaleAfter, o.Deadline = crashStaleAfter, crashDeadline
	}
	return o
}

// orders is a search of interleavings as the explore command makes it.
func orders(e *zoo.Exploration, o lab.Options) explore.Options {
	search := explore.Options{Preemptions: usualPreemptions(o.Actors()), Reduce: true, Symmetry: true}
	if e.Preemptions > 0 {
		search.Preemptions = e.Preemptions
	}
	return search
}

// convicted is what the runs of one variant came to.
type convicted struct {
	Variant        string        `json:"variant"`
	How            string        `json:"how"` // the flags of explore
	Invariant      string        `json:"invariant"`
	Runs           int           `json:"runs"`
	Caught         int           `json:"caught"`
	Same           int           `json:"same"`  // runs whose counterexample was the first run's
	First          int           `json:"first"` // schedules or crash points until the first violation, in the first run
	Median         time.Duration `json:"median_ns"`
	Longest        time.Duration `json:"longest_ns"`
	Counterexample []string      `json:"counterexample"`  // of the first run
	Other          []string      `json:"other,omitempty"` // the first that differed
	Open           []string      `json:"open,omitempty"`
}

func (c convicted) right() bool { return c.Caught == c.Runs && c.Same == c.Runs }

func (c convicted) line() string {
	mark := "✓ caught "
	switch {
	case c.Caught < c.Runs:
		mark = "✗ ESCAPED"
	case c.Same < c.Runs:
		mark = "✗ DIFFERS"
	}
	text := fmt.Sprintf("%s %-28s %-20s %s %d, %s", mark, c.Variant, c.Invariant, c.unit(), c.First, brief(c.Median))
	if c.Runs > 1 {
		text += fmt.Sprintf("; %d of %d caught, %d the same, longest %s", c.Caught, c.Runs, c.Same, brief(c.Longest))
	}
	if c.How != "" {
		text += "\n          " + c.How
	}
	for _, why := range c.Open {
		text += "\n          left open: " + firstLine(why)
	}
	return text
}

// unit is what the search counts.
func (c convicted) unit() string {
	if strings.Contains(c.How, "--crash-points") {
		return "failure"
	}
	return "order"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// convict searches for a variant's fault as often as was asked, on one lab: each schedule and each crash point has a key of its own.
func (f zooExploreFlags) convict(ctx context.Context, v zoo.Variant) (c convicted, err error) {
	c = convicted{Variant: v.Name, How: flagsOf(v.Explore), Invariant: v.Convicts(), Runs: f.runs}
	o := f.options(v)
	l, clean, err := openLab(ctx, o)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, clean()) }()
	var took []time.Duration
	for range f.runs {
		one, err := convictOnce(ctx, l, v, o)
		if err != nil {
			return c, err
		}
		c.take(one)
		took = append(took, one.took)
	}
	slices.Sort(took)
	c.Median, c.Longest = took[len(took)/2], took[len(took)-1]
	return c, nil
}

func convictOnce(ctx context.Context, l *lab.Lab, v zoo.Variant, o lab.Options) (conviction, error) {
	if e := v.Explore; len(e.Faults) > 0 {
		result, err := l.Crash(ctx, lab.CrashOptions{Faults: e.Faults, First: true, Replayed: e.Replayed})
		return crashConviction(result, v.Convicts()), err
	}
	result, err := l.Explore(ctx, orders(v.Explore, o))
	return orderConviction(result, v.Convicts()), err
}

func (c *convicted) take(one conviction) {
	if one.caught {
		c.Caught++
	}
	if c.Counterexample == nil {
		c.Counterexample, c.First = one.shape, one.first
	}
	switch {
	case slices.Equal(c.Counterexample, one.shape):
		c.Same++
	case c.Other == nil:
		c.Other = one.shape
	}
	for _, why := range one.open {
		if !slices.Contains(c.Open, why) {
			c.Open = append(c.Open, why)
		}
	}
}

// conviction is what one search came to.
type conviction struct {
	caught bool
	first  int
	shape  []string // what a counterexample must repeat: who ran what, and what came of it; keys and row numbers are fresh each time
	open   []string
	took   time.Duration
}

func orderConviction(r schedule.Result, invariant string) conviction {
	c := conviction{first: r.First, open: r.Open, took: r.Took}
	if r.Schedule == nil {
		return c
	}
	for _, taken := range r.Schedule.Steps {
		c.shape = append(c.shape, fmt.Sprintf("%s: %s %s", r.Schedule.Actors[taken.Step.Actor], taken.Step.Kind, schedule.OneLine(taken.Step.SQL)))
	}
	c.shape = append(c.shape, r.Schedule.Outcome.Signature())
	c.caught = r.Schedule.Outcome.Violates(invariant)
	return c
}

// crashConviction takes the point that broke something, which was the last to be struck.
func crashConviction(r schedule.CrashResult, invariant string) conviction {
	c := conviction{open: r.Open, took: r.Took}
	for _, p := range r.Points {
		if len(p.Outcome.Violated) == 0 {
			continue
		}
		c.first = len(r.Points)
		c.shape = []string{
			fmt.Sprintf("%s at step %d: %s %s", p.Fault, p.Step, p.Kind, schedule.OneLine(p.SQL)),
			fmt.Sprintf("saw %s, in the end %s", p.Saw, p.Final), p.Outcome.Signature(),
		}
		c.caught = p.Outcome.Violates(invariant)
	}
	return c
}

// howExplored is the command that convicts a variant; empty where none does.
func howExplored(v zoo.Variant) string {
	if v.Explore == nil {
		return ""
	}
	return strings.TrimSpace("idemstorm explore --variant " + v.Name + " " + flagsOf(v.Explore))
}

// flagsOf says how explore is told the same.
func flagsOf(e *zoo.Exploration) string {
	var out []string
	add := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	add(e.Case != "" && e.Case != lab.Cases[0].Name, "--case "+e.Case)
	add(e.Route != "", "--route "+e.Route)
	add(e.Requests > 0, fmt.Sprintf("--requests %d", e.Requests))
	add(e.Shared, "--replicas 1")
	add(e.Preemptions > 0, fmt.Sprintf("--preemptions %d", e.Preemptions))
	add(len(e.Faults) > 0, "--crash-points --fault "+strings.Join(e.Faults, ","))
	add(e.Replayed, "--replayed")
	return strings.Join(out, " ")
}
