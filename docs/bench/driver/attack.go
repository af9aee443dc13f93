package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
)

// attack is one run of the driver. Keys say how long a closed loop is, a rate makes it an open one.
type attack struct {
	target  string
	history string // path of the file to write
	clients int
	keys    int
	rate    float64
	length  time.Duration // of an open loop; bound of a closed one
	flags   *flag.FlagSet
}

// outcome is what the driver's process prints.
type outcome struct {
	Seconds float64  `json:"seconds"` // from the first sending until the history is complete on disk
	Doubts  []string `json:"doubts"`
}

// longest is how many operations a phase of a plan may have.
const longest = 20_000_000

// phases are one, or as many equal ones as the number of operations takes.
func (a attack) phases() []plan.Phase {
	ph := plan.Phase{Name: "bench", Shape: "traffic", Clients: a.clients}
	if a.rate > 0 {
		ph.Loop, ph.Rate, ph.Arrivals = plan.Open, a.rate, plan.Constant
		ph.For, ph.Bound = plan.Duration(a.length), plan.Duration(a.length+time.Minute)
		return []plan.Phase{ph}
	}
	out := make([]plan.Phase, (a.keys+longest-1)/longest)
	for i := range out {
		ph.Name = fmt.Sprintf("bench-%d", i+1)
		ph.Keys, ph.Bound = a.keys/len(out), plan.Duration(a.length)/plan.Duration(len(out))
		out[i] = ph
	}
	return out
}

func (a attack) plan(c contract.Contract) (*plan.Plan, error) {
	return plan.Build(plan.Input{
		Spec: plan.Spec{Phases: a.phases()}, Seed: 1, Contract: c, Accounts: []plan.Account{{ID: 1}, {ID: 2}},
	})
}

// run plans, sends, and writes the whole history; planned is called in between.
func (a attack) run(ctx context.Context, planned func()) (outcome, error) {
	c := contract.ADR0138(30*time.Second, 2*time.Second)
	p, err := a.plan(c)
	if err != nil {
		return outcome{}, err
	}
	w, err := history.Create(a.history)
	if err != nil {
		return outcome{}, err
	}
	planned()
	zero := time.Now()
	result, err := drive.Run(ctx, drive.Config{Plan: p, Targets: []string{a.target}, Writer: w, Zero: zero, Contract: c})
	if err := errors.Join(err, w.Close(), ctx.Err()); err != nil {
		return outcome{}, err
	}
	return outcome{Seconds: time.Since(zero).Seconds(), Doubts: result.Doubts}, nil
}

// set are the flags that say what to run.
func (a *attack) set(name string) *flag.FlagSet {
	a.flags = flag.NewFlagSet(name, flag.ContinueOnError)
	a.flags.StringVar(&a.target, "target", "", "base URL to drive")
	a.flags.StringVar(&a.history, "history", "", "file to write the history to")
	a.flags.IntVar(&a.clients, "clients", 32, "clients")
	a.flags.IntVar(&a.keys, "keys", 0, "operations of a closed loop, each with a key of its own")
	a.flags.Float64Var(&a.rate, "rate", 0, "operations a second of an open loop")
	a.flags.DurationVar(&a.length, "length", 5*time.Minute, "of an open loop; bound of a closed one")
	return a.flags
}

func (a *attack) parse(args []string) error {
	if err := a.flags.Parse(args); err != nil {
		return err
	}
	if a.target == "" || a.history == "" {
		return errors.New(a.flags.Name() + " needs -target and -history")
	}
	return nil
}

func driveOnce(ctx context.Context, args []string) error {
	var a attack
	a.set("drive")
	if err := a.parse(args); err != nil {
		return err
	}
	out, err := a.run(ctx, func() {})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}
