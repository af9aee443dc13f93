// Command server is what docs/bench/server.sh measures with: fresh orders through the bundled server, and pgbench running the same SQL on the
// same cluster, in alternating rounds of one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
)

type bench struct {
	exe, script     string
	rounds, clients int
	seconds         int
	dir, dsn        string
	cluster         *pgcluster.Cluster
	fixture         subject.Fixture
	replica         *subject.Replica
	round           uint64
}

func main() {
	var b bench
	flag.StringVar(&b.exe, "exe", "bin/idemstorm", "the program that serves")
	flag.StringVar(&b.script, "script", "harness/bench/claim/order.sql", "pgbench script of the same SQL")
	flag.IntVar(&b.rounds, "rounds", 7, "rounds, each pgbench, server, pgbench")
	flag.IntVar(&b.clients, "clients", 32, "clients on either side")
	flag.IntVar(&b.seconds, "seconds", 5, "length of one measurement")
	flag.Parse()
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "server bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context) (err error) {
	if err := b.start(ctx); err != nil {
		return errors.Join(err, b.stop(ctx))
	}
	defer func() { err = errors.Join(err, b.stop(ctx)) }()
	if _, _, err := b.orders(ctx); err != nil { // warm up
		return err
	}
	var ratios []float64
	for range b.rounds {
		before, err := b.pgbench(ctx)
		if err != nil {
			return err
		}
		rate, p99, err := b.orders(ctx)
		if err != nil {
			return err
		}
		after, err := b.pgbench(ctx)
		if err != nil {
			return err
		}
		floor := (before + after) / 2
		ratios = append(ratios, rate/floor)
		fmt.Printf("pgbench %.0f/s %.0f/s  server %.0f/s (p99 %v)  ratio %.3f  noise %.3f\n",
			before, after, rate, p99.Round(100*time.Microsecond), rate/floor, before/after)
	}
	slices.Sort(ratios)
	fmt.Printf("median ratio server / pgbench: %.2f (%.2f to %.2f, %d rounds, %d clients)\n",
		ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], len(ratios), b.clients)
	return nil
}

func (b *bench) start(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "idemstorm-bench-"); err != nil {
		return err
	}
	settings := map[string]string{"max_connections": "300"}
	if b.cluster, err = pgcluster.Start(ctx, pgcluster.Options{Settings: settings}); err != nil {
		return err
	}
	if err := b.cluster.CreateDatabase(ctx, "bench"); err != nil {
		return err
	}
	b.dsn = b.cluster.DSN("bench")
	bundle := subject.Bundled{Exe: b.exe, Dir: b.dir, Spec: subject.Spec{Pool: b.clients, StorePool: b.clients, Deadline: 10 * time.Second}}
	if b.fixture, err = bundle.Prepare(ctx, b.dsn, subject.Seed{Users: 2000, Cash: "1000000000.00", Value: 1}); err != nil {
		return err
	}
	b.replica = bundle.Replica(1, subject.Paths{Database: b.dsn, Store: b.dsn})
	return b.replica.Start(ctx)
}

func (b *bench) stop(ctx context.Context) error {
	var errs []error
	if b.replica != nil {
		errs = append(errs, b.replica.Stop(ctx))
	}
	if b.cluster != nil {
		errs = append(errs, b.cluster.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(b.dir))...)
}

// orders sends fresh orders in a closed loop for the time of one measurement.
func (b *bench) orders(ctx context.Context) (rate float64, p99 time.Duration, err error) {
	b.round++
	p, err := b.plan()
	if err != nil {
		return 0, 0, err
	}
	writer, err := history.Create(filepath.Join(b.dir, "history.jsonl.gz"))
	if err != nil {
		return 0, 0, err
	}
	zero := time.Now()
	driven, err := drive.Run(ctx, drive.Config{
		Plan: p, Targets: []string{b.replica.URL()}, Writer: writer, Zero: zero, Contract: contract.ADR0138(30*time.Second, 10*time.Second),
		Credentials: func(user int64) string { return b.fixture.Users[user-1].Token },
	})
	took := time.Since(zero)
	if err := errors.Join(err, writer.Close()); err != nil {
		return 0, 0, err
	}
	fresh := driven.Latency.Summary(latency.Series{Group: "order fresh", Kind: latency.Service})
	q := driven.Latency.Quantile(fresh.Series, 0.99)
	return float64(fresh.Count) / took.Seconds(), q.Value, nil
}

func (b *bench) plan() (*plan.Plan, error) {
	var accounts []plan.Account
	for _, u := range b.fixture.Users {
		accounts = append(accounts, plan.Account{ID: u.ID})
	}
	phase := plan.Phase{
		Name: "orders", Shape: "traffic", Loop: plan.Closed, Clients: b.clients, Keys: 200_000, Duplicates: 1, Mix: map[string]int{"order": 1},
		Deadline: plan.Duration(10 * time.Second), Bound: plan.Duration(time.Duration(b.seconds) * time.Second),
	}
	fixture := plan.Fixture{Users: len(accounts), Cash: "1000000000.00"}
	return plan.Build(plan.Input{
		Spec: plan.Spec{Fixture: fixture, Phases: []plan.Phase{phase}}, Seed: b.round,
		Contract: contract.ADR0138(30*time.Second, 10*time.Second), Accounts: accounts,
	})
}

var tps = regexp.MustCompile(`tps = ([0-9.]+) \(without`)

func (b *bench) pgbench(ctx context.Context) (rate float64, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(b.cluster.BinDir(), "pgbench"), "-n", "-M", "prepared",
		"-c", strconv.Itoa(b.clients), "-j", "2", "-T", strconv.Itoa(b.seconds), "-f", b.script, b.dsn)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w: %.600s", err, out)
	}
	m := tps.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("pgbench printed no rate: %s", out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}
