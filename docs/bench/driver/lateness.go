package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// lateBar bounds the p99 of the lateness, at 2,000 requests a second on a machine that does nothing else.
const lateBar = 200 * time.Microsecond

// lateness measures how much later than planned requests leave. The driver's are read from its history: sent minus intended, connecting included.
func lateness(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("lateness", flag.ContinueOnError)
	folder := set.String("peers", "", "folder of the peers' programs")
	rounds := set.Int("rounds", 7, "runs of each generator that count")
	l := load{}
	set.IntVar(&l.clients, "clients", 64, "bound on requests in flight")
	set.Float64Var(&l.rate, "rate", 2000, "requests a second")
	set.DurationVar(&l.length, "length", 5*time.Second, "of one run")
	return onStage(set, args, func(s *stage) error { return compareLateness(ctx, s, l, *folder, *rounds) })
}

func compareLateness(ctx context.Context, s *stage, l load, folder string, rounds int) error {
	fmt.Printf("open loop: %.0f requests a second for %v, until %d runs on an otherwise idle machine, %d runs at the most\n%s\n",
		l.rate, l.length, rounds, most*rounds, conditions())
	fmt.Printf("(idle: the host takes away ≤ %.2f %% of the processors' time, other processes use ≤ %.0f %%; other runs are shown and not counted)\n\n",
		100*idleness.stolen, 100*idleness.others)
	fmt.Printf("%-10s%10s%12s%12s%12s%12s\n", "sent − due", "p50", "p99", "max", "stolen", "others")
	generators := punctual(folder)
	p99 := map[string][]float64{}
	for i := 0; i < most*rounds && len(p99["driver"]) < rounds; i++ {
		for _, g := range generators {
			if err := lateRun(ctx, s, g, l, p99); err != nil {
				return err
			}
		}
	}
	printLateness(generators, p99)
	return nil
}

// most is how many times as many runs are made as are counted, on a machine that is rarely idle.
const most = 3

// punctual are the generators whose send times are known.
func punctual(folder string) []generator {
	found, _ := peers(folder)
	found = slices.DeleteFunc(found, func(g generator) bool { return g.name != "vegeta" })
	return append([]generator{{"driver", driverRun}}, found...)
}

// lateRun makes one run, prints it, and adds its p99 in microseconds if the machine was idle beside it.
func lateRun(ctx context.Context, s *stage, g generator, l load, p99 map[string][]float64) error {
	f, d, err := s.watched(ctx, g, l)
	if err != nil {
		return err
	}
	t, remark := timesOf(f.late), "not counted"
	if d.idle() {
		p99[g.name] = append(p99[g.name], float64(t.p99)/1e3)
		remark = ""
	}
	fmt.Printf("%-10s%10s%12s%12s%10.2f %%%10.1f %%  %s\n", g.name, shortly(t.p50), shortly(t.p99), shortly(t.most), 100*d.stolen, 100*d.others, remark)
	return nil
}

func printLateness(generators []generator, p99 map[string][]float64) {
	fmt.Println()
	for _, g := range generators {
		fmt.Printf("%-10s p99 over %d counted runs: %s µs\n", g.name, len(p99[g.name]), show("%.0f", bench.Middle(p99[g.name])))
	}
	fmt.Printf("bar for the driver: p99 ≤ %v: %s\n", lateBar, atMost(bench.Middle(p99["driver"]), float64(lateBar)/1e3))
	if len(generators) > 1 {
		fmt.Println("(vegeta does not tell when its schedule began; its lateness is against its most punctual request, which flatters it)")
	}
}

// atMost judges by the whole interval.
func atMost(i bench.Interval, bar float64) string {
	switch {
	case !i.Known:
		return "too few runs to say"
	case i.High <= bar:
		return "met"
	case i.Low > bar:
		return "MISSED"
	}
	return "undecided, the interval holds the bar"
}

// shortly is a time with three digits or so.
func shortly(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", micros(d))
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2f ms", micros(d)/1e3)
	}
	return fmt.Sprintf("%.3f s", d.Seconds())
}
