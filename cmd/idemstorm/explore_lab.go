package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/scratch"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// explorable is a lab: the bundled server's, or somebody else's.
type explorable interface {
	Scenario() (explore.Scenario, error)
	System(explore.Scenario) explore.System
	Explore(context.Context, explore.Options) (schedule.Result, error)
	Crash(context.Context, lab.CrashOptions) (schedule.CrashResult, error)
	Close(context.Context) error
}

// bundledOnly are flags that a target file leaves no room for.
var bundledOnly = []string{"variant", "route", "isolation"}

// completeForeign loads the target file, and fills in what the flags say beside it.
func (f *exploreFlags) completeForeign(cmd *cobra.Command) error {
	for _, name := range bundledOnly {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is of the bundled server; leave it out with --target", name)
		}
	}
	target, err := subject.LoadTarget(f.target)
	if err != nil {
		return err
	}
	f.foreign = lab.ForeignOptions{
		Target: target, Case: f.lab.Case, Requests: f.lab.Requests, Shared: f.lab.Shared, Quiet: f.lab.Quiet, Params: f.lab.Params,
		BinDir: f.lab.BinDir,
	}
	if !cmd.Flags().Changed("preemptions") {
		f.search.Preemptions = usualPreemptions(f.foreign.Actors())
	}
	return errors.Join(f.foreign.Validate(), f.foreign.ValidateCrash(f.strike))
}

// open starts the lab that the flags name.
func (f *exploreFlags) open(ctx context.Context) (l explorable, clean func() error, err error) {
	if f.target == "" {
		return openLab(ctx, f.lab)
	}
	return inFolder(ctx, func(dir string) (explorable, error) {
		f.foreign.Dir = dir
		return lab.OpenForeign(ctx, f.foreign)
	})
}

// openLab starts a lab of the bundled server, on this very binary unless another is named.
func openLab(ctx context.Context, o lab.Options) (l *lab.Lab, clean func() error, err error) {
	if o.Exe == "" {
		if o.Exe, err = os.Executable(); err != nil {
			return nil, nil, fmt.Errorf("find this program: %w", err)
		}
	}
	return inFolder(ctx, func(dir string) (*lab.Lab, error) {
		o.Dir = dir
		return lab.Open(ctx, o)
	})
}

// inFolder starts a lab in a folder that clean removes. A lab that does not start leaves the folder, and the servers' logs in it; a program
// that is killed does not.
func inFolder[L explorable](ctx context.Context, start func(dir string) (L, error)) (l L, clean func() error, err error) {
	folder, err := scratch.New("idemstorm-explore-")
	if err != nil {
		return l, nil, fmt.Errorf("make a folder for the servers' logs: %w", err)
	}
	if l, err = start(folder.Path); err != nil {
		return l, nil, errors.Join(fmt.Errorf("%w (logs: %s)", err, folder.Path), folder.Keep())
	}
	return l, func() error { return errors.Join(l.Close(ctx), folder.Remove()) }, nil
}
