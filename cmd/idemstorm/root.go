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

const rootHelp = `Idemstorm tells whether an Idempotency-Key endpoint really executes at most once: it storms a server with duplicates, retries,
mismatches and outages, or tries every order of its SQL statements, and judges by the rows that were left behind.

Exit codes: 0 held; 1 an invariant was violated; 2 usage; 3 target or database not reachable; 4 a latency gate failed; 5 inconclusive.`

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "idemstorm",
		Short: "Test Idempotency-Key handling on PostgreSQL under load, races and outages",
		Long:  rootHelp,
		Example: `  idemstorm run --suite quick
  idemstorm explore --variant select-then-insert
  idemstorm scenarios show store-outage`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		newRunCommand(),
		newExploreCommand(),
		newBenchCommand(),
		newCheckCommand(),
		newReportCommand(),
		newTargetCommand(),
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
		newManCommand(),
	)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	explainCompletion(root)
	root.SetFlagErrorFunc(flagError)
	finish(root)
	return root
}

// explainCompletion gives cobra's own commands the examples that every command has.
func explainCompletion(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  idemstorm help run"
		case "completion":
			cmd.Example = "  idemstorm completion bash > /etc/bash_completion.d/idemstorm"
			for _, shell := range cmd.Commands() {
				shell.Example = "  idemstorm completion " + shell.Name()
			}
		}
	}
}
