package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// bars are the least ratios of the driver's requests a second to a peer's. wrk is shown for scale: it is written in C and writes nothing down.
var bars = map[string]float64{"vegeta": 1.5, "k6": 2.5}

// series are the runs of one generator: two in each round.
type series struct {
	generator
	rates  [2][]float64
	own    []float64 // processor time of the generator a request, in microseconds
	others []float64 // the handler's
	beside []float64 // share of the processors' time that the host took away or other processes used, in percent
}

// rate is the mean of a round's two runs.
func (s *series) rate() []float64 {
	out := make([]float64, len(s.rates[1]))
	for i := range out {
		out[i] = (s.rates[0][i] + s.rates[1][i]) / 2
	}
	return out
}

func closed(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("closed", flag.ContinueOnError)
	folder := set.String("peers", "", "folder of the peers' programs")
	rounds := set.Int("rounds", 7, "rounds; every generator runs twice in each")
	l := load{}
	set.IntVar(&l.clients, "clients", 32, "workers of every generator")
	set.DurationVar(&l.length, "length", 3*time.Second, "of one run")
	return onStage(set, args, func(s *stage) error { return compareClosed(ctx, s, l, *folder, *rounds) })
}

func compareClosed(ctx context.Context, s *stage, l load, folder string, rounds int) (err error) {
	found, missing := peers(folder)
	all := []*series{{generator: generator{"driver", driverRun}}}
	for _, g := range found {
		all = append(all, &series{generator: g})
	}
	fmt.Printf("closed loop: %d workers of each generator, %d rounds; in each every generator runs twice for %v, forth and back\n%s\n",
		l.clients, rounds, l.length, conditions())
	if l.expect, err = warmUp(ctx, s, l); err != nil {
		return err
	}
	for range rounds {
		if err := round(ctx, s, all, l); err != nil {
			return err
		}
	}
	printClosed(all, missing)
	return nil
}

// warmUp tells how many requests a second the driver comes to, so that its runs are about as long as the others'.
func warmUp(ctx context.Context, s *stage, l load) (float64, error) {
	l.length, l.expect = time.Second, 20_000
	f, err := driverRun(ctx, s, l)
	return f.perSecond(), err
}

func round(ctx context.Context, s *stage, all []*series, l load) error {
	for half := range 2 {
		for _, g := range all {
			f, d, err := s.watched(ctx, g.generator, l)
			if err != nil {
				return err
			}
			g.rates[half] = append(g.rates[half], f.perSecond())
			g.own = append(g.own, micros(f.cpu)/float64(f.requests))
			g.others = append(g.others, micros(f.handler)/float64(f.requests))
			g.beside = append(g.beside, 100*(d.stolen+d.others))
		}
		all = slices.Clone(all)
		slices.Reverse(all)
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func printClosed(all []*series, missing []string) {
	fmt.Printf("\n%-10s  %-26s  %-26s  %-26s  %s\n", "", "requests/s", "generator CPU µs/request", "handler CPU µs/request", "disturbed %")
	for _, g := range all {
		fmt.Printf("%-10s  %-26s  %-26s  %-26s  %s\n", g.name, show("%.0f", bench.Middle(g.rate())), show("%.1f", bench.Middle(g.own)),
			show("%.1f", bench.Middle(g.others)), show("%.1f", bench.Middle(g.beside)))
	}
	fmt.Printf("\n%-16s  %-22s  %-22s  %s\n", "paired ratio", "requests/s", "generator CPU/request", "bar (requests/s)")
	for _, peer := range all[1:] {
		r := bench.Ratio(peer.rate(), all[0].rate())
		fmt.Printf("%-16s  %-22s  %-22s  %s\n", "driver / "+peer.name, show("%.2f", r), show("%.2f", bench.Ratio(peer.own, all[0].own)), atLeast(r, bars[peer.name]))
	}
	fmt.Println("\nnoise floor: a generator's second runs over its first ones, which should be 1")
	for _, g := range all {
		fmt.Printf("%-16s  %s\n", g.name, show("%.2f", bench.Ratio(g.rates[0], g.rates[1])))
	}
	if len(missing) > 0 {
		fmt.Printf("\nmissing: %s; the comparisons with it are not made\n", strings.Join(missing, ", "))
	}
}

// show is a figure with its 95 % interval, or without one where the runs are too few for it.
func show(format string, i bench.Interval) string {
	if !i.Known {
		return fmt.Sprintf(format, i.Value)
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", i.Value, i.Low, i.High)
}

// atLeast judges by the whole interval.
func atLeast(i bench.Interval, bar float64) string {
	switch {
	case bar == 0:
		return "none"
	case !i.Known:
		return fmt.Sprintf("≥ %v: too few rounds to say", bar)
	case i.Low >= bar:
		return fmt.Sprintf("≥ %v: met", bar)
	case i.High < bar:
		return fmt.Sprintf("≥ %v: MISSED", bar)
	}
	return fmt.Sprintf("≥ %v: undecided, the interval holds the bar", bar)
}
