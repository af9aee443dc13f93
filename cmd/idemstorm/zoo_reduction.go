package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/target/zoo"
)

// compared is what one variant's orders came to, with and without leaving out those that commute or only swap names.
type compared struct {
	Variant  string        `json:"variant"`
	How      string        `json:"how"`
	Bound    int           `json:"preemptions"`
	All      int           `json:"schedules"` // played without leaving out any
	Few      int           `json:"reduced_schedules"`
	Outcomes int           `json:"outcomes"`
	Lost     []string      `json:"lost,omitempty"`  // outcomes that the reduction hid
	Added    []string      `json:"added,omitempty"` // outcomes that only the reduced search saw
	Open     []string      `json:"open,omitempty"`
	Took     time.Duration `json:"took_ns"`
	Complete bool          `json:"complete"`
}

func (c compared) right() bool { return len(c.Lost) == 0 && len(c.Added) == 0 && c.Complete }

func (c compared) line() string {
	mark := "✓ equal  "
	switch {
	case len(c.Lost)+len(c.Added) > 0:
		mark = "✗ DIFFERS"
	case !c.Complete:
		mark = "? open   "
	}
	text := fmt.Sprintf("%s %-28s %-20s %6d schedules, %5d reduced: %d outcomes in %s", mark, c.Variant, c.How, c.All, c.Few, c.Outcomes,
		c.Took.Round(time.Millisecond))
	for _, lost := range c.Lost {
		text += "\n          only in all: " + lost
	}
	for _, added := range c.Added {
		text += "\n          only in the reduced: " + added
	}
	for _, why := range c.Open {
		text += "\n          left open: " + firstLine(why)
	}
	return text
}

// reducible are the variants whose orders are explored with reduction: on one server process none is left out but for symmetry, and whose a
// statement is must at times be guessed.
func reducible(variants []zoo.Variant) []zoo.Variant {
	return slices.DeleteFunc(variants, func(v zoo.Variant) bool { return len(v.Explore.Faults) > 0 || v.Explore.Shared })
}

// besideCommand bounds the comparison where more than two meet: there all orders are too many to play without reduction.
const besideCommand = 1

// compare explores a variant to the end twice.
func (f zooExploreFlags) compare(ctx context.Context, v zoo.Variant) (r explored, err error) {
	o := f.options(v)
	l, clean, err := openLab(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, clean()) }()
	c := compared{Variant: v.Name, How: flagsOf(v.Explore), Bound: orders(v.Explore, o).Preemptions}
	if o.Actors() > 2 {
		c.Bound = besideCommand
	}
	few, err := l.Explore(ctx, explore.Options{Preemptions: c.Bound, KeepGoing: true, Reduce: true, Symmetry: true})
	if err != nil {
		return nil, err
	}
	all, err := l.Explore(ctx, explore.Options{Preemptions: c.Bound, KeepGoing: true})
	if err != nil {
		return nil, err
	}
	c.take(few, all)
	return c, nil
}

func (c *compared) take(few, all schedule.Result) {
	c.All, c.Few, c.Took = all.Schedules, few.Schedules, few.Took+all.Took
	c.Complete = few.Complete && all.Complete
	c.Open = slices.Compact(slices.Sorted(slices.Values(append(few.Open, all.Open...))))
	with, without := signatures(few), signatures(all)
	c.Outcomes = len(without)
	c.Lost = slices.DeleteFunc(slices.Clone(without), func(s string) bool { return slices.Contains(with, s) })
	c.Added = slices.DeleteFunc(slices.Clone(with), func(s string) bool { return slices.Contains(without, s) })
}

func signatures(r schedule.Result) (out []string) {
	for _, c := range r.Outcomes {
		out = append(out, c.Outcome.Signature())
	}
	return out
}
