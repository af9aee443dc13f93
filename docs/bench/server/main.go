// Command server is what docs/bench/server.sh and docs/bench/retention.sh measure with: the bundled server against pgbench with the same SQL on the
// same cluster, and the server beside ten million records and beside their cleanup.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "server bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say what to measure: speed or retention")
	}
	switch args[0] {
	case "speed":
		return runSpeed(ctx, args[1:])
	case "retention":
		return runRetention(ctx, args[1:])
	}
	return fmt.Errorf("%q is neither speed nor retention", args[0])
}

// common are the flags of both.
type common struct {
	exe     string
	rounds  int
	clients int
	pool    int // connections of the handlers
	store   int // and of the key store
	length  time.Duration
}

func (c *common) define(flags *flag.FlagSet, rounds int, length time.Duration) {
	flags.StringVar(&c.exe, "exe", "bin/idemstorm", "the program that serves")
	flags.IntVar(&c.rounds, "rounds", rounds, "how often everything is measured")
	flags.IntVar(&c.clients, "clients", 32, "clients on either side")
	flags.IntVar(&c.pool, "pool", 12, "connections of the server's handlers, by default as serve has it")
	flags.IntVar(&c.store, "store-pool", 12, "and of its key store: a replay, too, waits for its commit on one of them")
	flags.DurationVar(&c.length, "length", length, "of one measurement")
}
