package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// The exit codes of the whole program.
const (
	exitUsage       = 2
	exitUnreachable = 3
)

// errShown stands for a verdict that has been shown: nothing is left to print, only an exit code to give.
var errShown = errors.New("the verdict has been shown")

// exitError carries the exit code that an error stands for.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// exitWith gives an error its code; nil stays nil, and a code that it has already stays too.
func exitWith(code int, err error) error {
	var coded *exitError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return &exitError{code: code, err: err}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "idemstorm",
		Short:         "Test Idempotency-Key handling on PostgreSQL under load, races and outages",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		newRunCommand(),
		newExploreCommand(),
		newCheckCommand(),
		newReportCommand(),
		newCompareCommand(),
		newScenariosCommand(),
		newZooCommand(),
		newSoakCommand(),
		newProviderCommand(),
		newServeCommand(),
		newMigrateCommand(),
		newSeedCommand(),
		newCleanupCommand(),
		newEraseCommand(),
		newExportCommand(),
	)
	return root
}
