// Command checker is what docs/bench/checker.sh measures with. It writes run directories whose histories are long, right and made up, in the true
// formats, and it runs a command and says how long it took and how much memory it held.
//
//	checker write DIR OPERATIONS    a run directory
//	checker measure COMMAND…        seconds, processor seconds and MiB at the most, on one line; the command's output is dropped
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "checker:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "write":
		n, err := strconv.Atoi(args[2])
		if err != nil || n < duplicates {
			return fmt.Errorf("%q is no number of operations from %d", args[2], duplicates)
		}
		return write(args[1], n)
	case len(args) > 1 && args[0] == "measure":
		return measure(args[1:])
	}
	return errors.New("usage: checker write DIR OPERATIONS | checker measure COMMAND…")
}

// measure fails when the command does: a checker that finds nothing held is quick for the wrong reason.
func measure(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w", command, err)
	}
	took := time.Since(began)
	busy := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not say how much memory a process held")
	}
	fmt.Printf("%.3f %.3f %.0f\n", took.Seconds(), busy.Seconds(), float64(usage.Maxrss)/1024) // Linux counts in KiB
	return nil
}
