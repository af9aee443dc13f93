package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/scratch"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// errInterrupted ends trials that a signal stopped: what failed after it failed because of it.
var errInterrupted = errors.New("interrupted: the trials that had not ended count for nothing")

// trialsIn says where trials are held.
type trialsIn struct {
	dir      string // takes the runs that are kept; "" is a temporary folder, gone at the end
	parallel int
	lab      harness.LabOptions
}

// withTrials starts a database for trials of this very program, lets use hold them, and takes everything down. The error has its exit code.
func withTrials(ctx context.Context, in trialsIn, use func(harness.Trials, *harness.Lab) error) (err error) {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file: %w", err)
	}
	if in.dir == "" {
		folder, err := scratch.New("idemstorm-zoo-")
		if err != nil {
			return fmt.Errorf("make a folder for the runs: %w", err)
		}
		defer func() { _ = folder.Remove() }() // what is left of it is the temporary folder's keeper's
		in.dir = folder.Path
	}
	lab, err := harness.OpenLab(ctx, in.lab)
	if err != nil {
		return unreachable(err)
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	err = use(harness.Trials{Exe: exe, Dir: in.dir, Parallel: in.parallel}, lab)
	if ctx.Err() != nil {
		return exitWith(verdict.ExitInconclusive, errInterrupted)
	}
	return unreachable(err)
}
