package main

import (
	"context"
	"flag"
	"fmt"
	"time"
)

// stalls shows what generators with an open loop say of a server that answers nothing for a while, in the middle of a run.
//
// The truth is known. Requests come evenly, rate r for a time T; the server answers at once, but for a stall of length S. Whoever comes a time t into
// the stall waits S−t, so that r·(S−x) of the r·T requests wait for longer than x, and the q-quantile is S − (1−q)·T.
func stalls(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("stall", flag.ContinueOnError)
	folder := set.String("peers", "", "folder of the peers' programs")
	rounds := set.Int("rounds", 3, "runs of each line")
	few := set.Int("clients", 32, "workers where they are bounded")
	l := load{}
	stall := set.Duration("stall", time.Second, "length of the stall")
	set.Float64Var(&l.rate, "rate", 500, "requests a second")
	set.DurationVar(&l.length, "length", 10*time.Second, "of one run")
	return onStage(set, args, func(s *stage) error { return compareStalls(ctx, s, l, *stall, stallLines(*folder, *few), *rounds) })
}

func compareStalls(ctx context.Context, s *stage, l load, stall time.Duration, lines []stallLine, rounds int) error {
	fmt.Printf("stall: %.0f requests a second for %v, and in the middle of it the server answers nothing for %v\n%s\n\n", l.rate, l.length, stall, conditions())
	fmt.Printf("%-42s%-30s%-10s%s\n", "", "p99 in each run", "p50", "max")
	truth := stall - l.length/100
	fmt.Printf("%-42s%-30s%-10s%s\n\n", "the truth, computed", shortly(int64(truth)), "~0", shortly(int64(stall)))
	for _, line := range lines {
		if err := line.measure(ctx, s, l, stall, rounds); err != nil {
			return err
		}
	}
	return nil
}

// stallLine is one generator with one number of workers.
type stallLine struct {
	generator
	clients int
}

func stallLines(folder string, few int) []stallLine {
	own := generator{"driver", driverRun}
	lines := []stallLine{{own, few}, {own, 0}}
	found, _ := peers(folder)
	for _, g := range found {
		switch g.name {
		case "vegeta":
			lines = append(lines, stallLine{g, few}, stallLine{g, 0})
		case "k6":
			lines = append(lines, stallLine{g, few})
		}
	}
	return lines
}

func (l stallLine) label() string {
	if l.clients == 0 {
		return l.name + ", workers as needed"
	}
	return fmt.Sprintf("%s, %d workers", l.name, l.clients)
}

func (l stallLine) measure(ctx context.Context, s *stage, what load, stall time.Duration, rounds int) error {
	what.clients = l.clients
	var runs []figures
	disturbed := 0.0
	for range rounds {
		if err := s.armStall(ctx, what.length/2, stall); err != nil {
			return err
		}
		f, d, err := s.watched(ctx, l.generator, what)
		if err != nil {
			return err
		}
		disturbed = max(disturbed, 100*(d.stolen+d.others))
		runs = append(runs, f)
	}
	service := func(f figures) times { return f.times }
	if l.name == "driver" {
		printTimes(l.label()+": intended time", runs, func(f figures) times { return f.response })
		printTimes("    its service time", runs, service)
	} else {
		printTimes(l.label()+": its report", runs, service)
	}
	if disturbed > 1 {
		fmt.Printf("    (the host or other processes took up to %.0f %% of the processors' time)\n", disturbed)
	}
	if remark := runs[len(runs)-1].remark; remark != "" {
		fmt.Printf("    it says: %s\n", remark)
	}
	return nil
}

func printTimes(label string, runs []figures, of func(figures) times) {
	p99 := ""
	for _, f := range runs {
		p99 += fmt.Sprintf("%-10s", shortly(of(f).p99))
	}
	last := of(runs[len(runs)-1])
	fmt.Printf("%-42s%-30s%-10s%s\n", label, p99, shortly(last.p50), shortly(last.most))
}
