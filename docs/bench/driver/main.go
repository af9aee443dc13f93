// Command driver is what docs/bench/driver.sh, openloop.sh and driver-memory.sh measure with: a trivial handler, the driver against it with the full
// history being written, and other load generators against the same handler. Handler and generators are processes of their own.
//
//	driver closed     requests a second and processor time, against vegeta, k6 and wrk in interleaved rounds
//	driver lateness   how late an open loop sends what is due
//	driver stall      what an open loop says of a server that stalls for a second
//	driver memory     what the driver holds during a long run
//	driver serve, driver drive and driver long are the processes that these start
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

var commands = map[string]func(context.Context, []string) error{
	"closed": closed, "lateness": lateness, "stall": stalls, "memory": memory, "serve": serve, "drive": driveOnce, "long": driveLong,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: driver closed | lateness | stall | memory [-flags]; docs/bench/driver.sh, openloop.sh and driver-memory.sh call it")
	}
	return commands[args[0]](ctx, args[1:])
}

// conditions is the line on the machine above every output.
func conditions() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("unknown")
	}
	fields := strings.Fields(string(load))
	return fmt.Sprintf("load before: %s; %d processors, shared by handler and generator; %s",
		strings.Join(fields[:min(3, len(fields))], " "), runtime.NumCPU(), runtime.Version())
}
