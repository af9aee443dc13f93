package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/scenarios"
)

// targetFlags are about somebody else's server.
type targetFlags struct {
	file    string
	owned   []string // hosts beyond this machine
	rate    float64
	total   int64
	target  *subject.Target // of file; nil for the bundled server
	leftOut []string        // scenarios that the file gives no means for, each with why
}

// What is sent to a host beyond this machine, unless more is asked for.
const (
	remoteRate  = 20
	remoteTotal = 5000
)

func (t *targetFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&t.file, "target", "", "storm the server that this file describes, see docs/target-file.md (default: the bundled server)")
	t.addOwnership(cmd)
	flags.Float64Var(&t.rate, "max-rate", remoteRate, "with a target on another host: requests a second")
	flags.Int64Var(&t.total, "max-total", remoteTotal, "with a target on another host: requests in all, for each scenario")
}

func (t *targetFlags) addOwnership(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&t.owned, "i-own-this-target", nil, "host beyond this machine that the target file names, to say that it may be stormed (default: this machine alone may be)")
}

// load reads the file, and refuses hosts that nobody has said to own.
func (t *targetFlags) load() error {
	target, err := subject.LoadTarget(t.file)
	if err != nil {
		return err
	}
	t.target = &target
	return target.Owned(t.owned)
}

// caps bound what is sent to another host.
func (t *targetFlags) caps() drive.Caps {
	if t.target == nil || len(t.target.Abroad()) == 0 {
		return drive.Caps{}
	}
	return drive.Caps{Rate: t.rate, Total: t.total}
}

// withoutBundled refuses flags that a target file leaves no room for.
func (f runFlags) withoutBundled() error {
	for name, given := range map[string]bool{"variant": f.variant != "", "strategy": f.strategy != ""} {
		if given {
			return fmt.Errorf("--%s is of the bundled server; leave it out with --target", name)
		}
	}
	if f.suite != "" && f.suite != targetSuite {
		return fmt.Errorf("--suite %s is of the bundled server; leave it out with --target: all scenarios for a target are run then", f.suite)
	}
	if f.foreign.rate < 0 || f.foreign.total < 0 {
		return errors.New("--max-rate, --max-total: neither can be negative")
	}
	return nil
}

// targetSuite is the suite of the scenarios for targets.
const targetSuite = "target"

func (f *runFlags) loadTarget() error {
	if f.foreign.file == "" {
		if len(f.foreign.owned) > 0 {
			return errors.New("--i-own-this-target: there is no --target")
		}
		return nil
	}
	if err := errors.Join(f.withoutBundled(), f.foreign.load()); err != nil {
		return err
	}
	return f.replicate()
}

// replicate lets the flag decide how many processes there are.
func (f *runFlags) replicate() error {
	t := f.foreign.target
	switch {
	case f.replicas == 0:
		return nil
	case t.Running():
		return errors.New("--replicas: the service runs already; leave it out, and write every base URL under url")
	case t.Start.OneProcess && f.replicas > 1:
		return fmt.Errorf("--replicas %d: the target file says one_process", f.replicas)
	}
	t.Start.Replicas = f.replicas
	return nil
}

func (f runFlags) openLab(ctx context.Context) (*harness.Lab, error) {
	if t := f.foreign.target; t != nil && t.Running() {
		return harness.NoLab(), nil
	}
	return harness.OpenLab(ctx, harness.LabOptions{DSN: f.dsn, BinDir: f.pgBin, Say: tell})
}

// chooseForTarget takes what is named, or everything that the file gives the means for.
func (f *runFlags) chooseForTarget(args []string) (out []chosenScenario, err error) {
	if len(args) == 0 {
		fitting, leftOut, err := fittingScenarios(*f.foreign.target)
		if err != nil {
			return nil, err
		}
		f.foreign.leftOut = leftOut
		for _, s := range fitting {
			out = append(out, chosenScenario{s, s.Name})
		}
		return out, f.check(out)
	}
	for _, arg := range args {
		s, err := scenarios.FindForTarget(arg)
		if err != nil {
			return nil, err
		}
		if err := s.Suits(*f.foreign.target); err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		out = append(out, chosenScenario{s, arg})
	}
	return out, f.check(out)
}

// fittingScenarios are those that a target gives the means for, and why the others are left out.
func fittingScenarios(t subject.Target) (fitting []scenarios.Scenario, leftOut []string, err error) {
	all, err := scenarios.ForTargets()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range all {
		if why := s.Suits(t); why != nil {
			leftOut = append(leftOut, s.Name+": "+why.Error())
		} else {
			fitting = append(fitting, s)
		}
	}
	return fitting, leftOut, nil
}

// announce says, before anything is sent, what is going to be stormed from afar and what is left out.
func (f runFlags) announce(w io.Writer) {
	t := f.foreign.target
	if t == nil || f.json || f.quiet {
		return
	}
	if hosts := t.Abroad(); len(hosts) > 0 {
		fmt.Fprintf(w, "Storming %s, which you say you own: at most %v requests a second, %d in all for each scenario.\n", strings.Join(hosts, ", "), f.foreign.rate, f.foreign.total)
	}
	for _, why := range f.foreign.leftOut {
		fmt.Fprintf(w, "left out: %s\n", why)
	}
}
