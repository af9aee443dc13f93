package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/reports/progress"
)

// output is where a command's results go: a folder of files, and the terminal.
type output struct {
	stdout   io.Writer
	flags    runFlags
	terminal reports.Terminal
	dir      string
	show     *progress.Progress
	events   *eventLines // nil without --json
}

// newOutput chooses the folder. Progress goes to stderr, results to stdout.
func newOutput(stdout io.Writer, f runFlags) *output {
	out := &output{stdout: stdout, flags: f, dir: f.out, terminal: terminal()}
	if out.dir == "" {
		out.dir = filepath.Join("runs", time.Now().Format("20060102-150405"))
	}
	if f.json {
		out.events = &eventLines{w: stdout}
		return out
	}
	out.show = newProgress(f.quiet)
	return out
}

// terminal is what results are shown on.
func terminal() reports.Terminal { return reports.DetectTerminal(os.Stdout, os.Getenv) }

// newProgress shows on stderr how far a command is: bars on a terminal that can redraw, plain lines elsewhere.
func newProgress(quiet bool) *progress.Progress {
	redraws := term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb"
	return progress.New(os.Stderr, progress.Options{Terminal: redraws, Quiet: quiet})
}

// besideProgress is where a command that shows progress writes lines to stdout.
func besideProgress(show *progress.Progress, stdout io.Writer) io.Writer {
	return show.Above(stdout, stdout == os.Stdout && term.IsTerminal(int(os.Stdout.Fd())))
}

// progress is what a run of that name reports to.
func (o *output) progress(name string) harness.Progress {
	if o.events != nil {
		return progress.New(nil, progress.Options{Events: o.events.phase(name), Every: time.Second})
	}
	return named{o.show, name}
}

// named puts the scenario before the phase.
type named struct {
	*progress.Progress
	scenario string
}

// Phase implements harness.Progress.
func (n named) Phase(phase string, total int64) { n.Progress.Phase(n.scenario+": "+phase, total) }

// scenario saves one run's reports and shows it.
func (o *output) scenario(run verdict.Run) error {
	dir := filepath.Join(o.dir, run.Scenario)
	if err := reports.Save(dir, run); err != nil {
		return err
	}
	if o.events != nil {
		o.events.verdict(run, dir)
		return o.events.err
	}
	if o.flags.quiet {
		_, err := fmt.Fprintln(o.stdout, run.Verdict.Sentence())
		return err
	}
	return reports.WriteTerminal(o.stdout, o.terminal, run)
}

// finish writes what is made over all runs, and says where everything is.
func (o *output) finish(runs []verdict.Run) error {
	if len(runs) == 0 {
		return nil
	}
	var entries []reports.Entry
	for _, run := range runs {
		entries = append(entries, reports.Entry{Dir: run.Scenario, Run: run})
	}
	err := reports.SaveIndex(o.dir, entries)
	if o.flags.junit != "" {
		err = errors.Join(err, reports.SaveJUnit(o.flags.junit, runs...))
	}
	if o.flags.metrics != "" {
		err = errors.Join(err, reports.SaveMetrics(o.flags.metrics, runs...))
	}
	if o.flags.json || o.flags.quiet {
		return err
	}
	if len(runs) > 1 {
		fmt.Fprintln(o.stdout)
		err = errors.Join(err, reports.WriteVerdicts(o.stdout, o.terminal, runs...))
	}
	fmt.Fprintf(o.stdout, "\nReports: %s\n", filepath.Join(o.dir, reports.IndexFile))
	return err
}
