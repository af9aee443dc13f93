// Command idemstorm tests whether an Idempotency-Key endpoint executes at most once, and bundles a reference server to
// be tested. Each command is one file: flags in, calls out, exit codes; no logic.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRootCommand().ExecuteContext(ctx)
	stop()
	os.Exit(report(err))
}

// report prints an error as one line and returns the exit code that it stands for.
func report(err error) int {
	if err != nil && !shown(err) {
		fmt.Fprintln(os.Stderr, "idemstorm:", oneLine(err))
	}
	return exitCode(err)
}

// exitCode is the code that an error stands for.
func exitCode(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	}
	return exitUsage // cobra's own errors are about flags and arguments
}

// shown says that nothing is left to print of an error.
func shown(err error) bool { return errors.Is(err, errShown) }

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
