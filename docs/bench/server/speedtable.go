package main

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// What is measured. The bare scripts do not look the session up; the floor runs all that the server sends.
const (
	orderFloor, orderAgain, orderBare, orderServer     = "orders: pgbench", "orders: pgbench again", "orders: pgbench, no session", "orders: server"
	replayFloor, replayAgain, replayBare, replayServer = "replays: pgbench", "replays: pgbench again", "replays: pgbench, no session", "replays: server"
)

var allSeries = []string{orderFloor, orderAgain, orderBare, orderServer, replayFloor, replayAgain, replayBare, replayServer}

// speedTable holds the readings of all rounds.
type speedTable struct {
	rounds []map[string]reading
}

func newSpeedTable(s *speed) *speedTable {
	fmt.Printf("PostgreSQL %s with its default durability, pools of %d and %d connections; %d clients; %d rounds of some %v each\n",
		s.cluster.Version(), s.pool, s.store, s.clients, s.rounds, s.length)
	fmt.Println("\nround   orders/s: pgbench  again   bare  server   p99 ms: pgbench  again  server   replays/s: pgbench  again   bare  server   p99 ms: pgbench  again  server")
	return &speedTable{}
}

func (t *speedTable) add(got map[string]reading) {
	t.rounds = append(t.rounds, got)
	rate := func(name string) float64 { r := got[name]; return r.rate() }
	p99 := func(name string) float64 { r := got[name]; return r.p99() }
	fmt.Printf("%5d   %17.0f %6.0f %6.0f %7.0f   %15.1f %6.1f %7.1f   %18.0f %6.0f %6.0f %7.0f   %15.1f %6.1f %7.1f\n", len(t.rounds),
		rate(orderFloor), rate(orderAgain), rate(orderBare), rate(orderServer), p99(orderFloor), p99(orderAgain), p99(orderServer),
		rate(replayFloor), rate(replayAgain), rate(replayBare), rate(replayServer), p99(replayFloor), p99(replayAgain), p99(replayServer))
}

func (t *speedTable) print() {
	t.printSpent()
	fmt.Println("\nratios, paired by round: server over pgbench, 95 % interval of the signed-rank test; noise: pgbench's second run over its first")
	t.judge("orders a second", orderServer, orderFloor, orderAgain, orderBare, reading.rate, bar{0.7, false})
	t.judge("orders' p99", orderServer, orderFloor, orderAgain, orderBare, reading.p99, bar{1.5, true})
	t.judge("replays a second", replayServer, replayFloor, replayAgain, replayBare, reading.rate, bar{0.6, false})
	t.judge("replays' p99", replayServer, replayFloor, replayAgain, replayBare, reading.p99, bar{1.5, true})
}

// printSpent shows medians over rounds.
func (t *speedTable) printSpent() {
	fmt.Printf("\n%-30s %9s %8s %8s   processor µs a request: %s\n", "medians", "a second", "p50 ms", "p99 ms", "postgres  server  driver  pgbench    sum   idle")
	for _, name := range allSeries {
		middle := func(f func(reading) float64) float64 { return bench.Middle(t.values(name, f)).Value }
		fmt.Printf("%-30s %9.0f %8.1f %8.1f   %32.0f %7.0f %7.0f %8.0f %6.0f %6.0f\n", name,
			middle(reading.rate), middle(reading.p50), middle(reading.p99),
			middle(func(r reading) float64 { return r.spent.postgres }), middle(func(r reading) float64 { return r.spent.server }),
			middle(func(r reading) float64 { return r.spent.driver }), middle(func(r reading) float64 { return r.spent.pgbench }),
			middle(func(r reading) float64 { return r.spent.sum() }), middle(func(r reading) float64 { return r.spent.idle }))
	}
}

func (t *speedTable) values(name string, f func(reading) float64) (out []float64) {
	for _, round := range t.rounds {
		out = append(out, f(round[name]))
	}
	return out
}

// judge compares with the mean of pgbench's two runs, before and after the server's.
func (t *speedTable) judge(what, server, floor, again, bare string, f func(reading) float64, b bar) {
	first, second := t.values(floor, f), t.values(again, f)
	ratio := bench.Ratio(mean(first, second), t.values(server, f))
	fmt.Printf("%-17s %s   noise %s   against pgbench without the session %s   %s\n", what, show(ratio), show(bench.Ratio(first, second)),
		show(bench.Ratio(t.values(bare, f), t.values(server, f))), b.say(ratio))
}

func show(i bench.Interval) string {
	if !i.Known {
		return fmt.Sprintf("%.2f (%d rounds: no interval)", i.Value, i.Runs)
	}
	return fmt.Sprintf("%.2f (%.2f…%.2f)", i.Value, i.Low, i.High)
}

// bar is a limit of a ratio.
type bar struct {
	limit float64
	most  bool // the ratio may not be above it; else not below
}

// say calls a bar met or missed only where the whole interval lies on one side.
func (b bar) say(i bench.Interval) string {
	sign, low, high := "≥", i.Low >= b.limit, i.High < b.limit
	value := i.Value >= b.limit
	if b.most {
		sign, low, high, value = "≤", i.High <= b.limit, i.Low > b.limit, i.Value <= b.limit
	}
	verdict := "missed, though the interval reaches over it"
	switch {
	case i.Known && low:
		verdict = "met"
	case i.Known && high:
		verdict = "missed"
	case value:
		verdict = "met, though the interval reaches over it"
	}
	return fmt.Sprintf("bar %s %.2f: %s", sign, b.limit, verdict)
}
