package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/plan"
)

// retentionSettings are those of a server that is meant for a table of gigabytes. Checkpoints come between the measurements, so that each pays for
// the first touch of its pages after one; so does vacuum. Without a standby the table can be filled without a log.
var retentionSettings = map[string]string{
	"max_connections": "300", "shared_buffers": "2GB", "autovacuum": "off", "checkpoint_timeout": "1h", "max_wal_size": "16GB",
	"min_wal_size":         "2GB",
	"maintenance_work_mem": "512MB", "wal_level": "minimal", "max_wal_senders": "0",
}

// retention measures a server beside many records, and beside their cleanup.
type retention struct {
	*stage
	rows, expired int
	rate          int
	wait          bool
	stdin         *bufio.Reader
	empty, full   *database
}

func runRetention(ctx context.Context, args []string) (err error) {
	var (
		c common
		r = retention{stdin: bufio.NewReader(os.Stdin)}
	)
	flags := flag.NewFlagSet("retention", flag.ContinueOnError)
	c.define(flags, 7, 4*time.Second)
	flags.IntVar(&r.rows, "rows", 10_000_000, "records that are live")
	flags.IntVar(&r.expired, "expired", 1_000_000, "records that are expired, beside those")
	flags.IntVar(&r.rate, "rate", 400, "orders a second")
	flags.BoolVar(&r.wait, "wait", false, "wait for Enter before either part is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	fmt.Println(machine())
	if r.stage, err = openStage(ctx, c, retentionSettings); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	return r.run(ctx)
}

func (r *retention) run(ctx context.Context) (err error) {
	if r.empty, err = r.open(ctx, "empty"); err != nil {
		return err
	}
	if r.full, err = r.open(ctx, "full"); err != nil {
		return err
	}
	if err := r.fill(ctx); err != nil {
		return err
	}
	if err := r.pause("the table is filled"); err != nil {
		return err
	}
	fmt.Printf("PostgreSQL %s with its default durability and 2 GB of shared buffers; pools of %d and %d connections; %d orders a second, at random; %v a measurement, each after a checkpoint\n",
		r.cluster.Version(), r.pool, r.store, r.rate, r.length)
	if err := r.sizes(ctx); err != nil {
		return err
	}
	if err := r.pause("the cleanup is next"); err != nil {
		return err
	}
	return r.cleanup(ctx)
}

// pause lets the machine come to rest, as long as who asked for it likes.
func (r *retention) pause(why string) error {
	if !r.wait {
		return nil
	}
	fmt.Fprintf(os.Stderr, "%s; Enter goes on\n", why)
	if _, err := r.stdin.ReadString('\n'); err != nil {
		return fmt.Errorf("wait for Enter: %w", err)
	}
	return nil
}

// orders sends fresh orders at the rate, whether earlier ones have been answered or not.
func (r *retention) orders(ctx context.Context, db *database) (reading, error) {
	phase := plan.Phase{
		Name: "orders", Shape: "traffic", Loop: plan.Open, Clients: 500, Duplicates: 1, Mix: map[string]int{"order": 1},
		Rate: float64(r.rate), For: plan.Duration(r.length), Arrivals: plan.Poisson,
		Deadline: plan.Duration(deadline), Bound: plan.Duration(r.length + time.Minute),
	}
	m := &meter{db: db}
	answers, err := db.play(ctx, []plan.Phase{phase}, []contract.Answer{contract.AnswerFresh}, []*meter{m})
	if err != nil {
		return reading{}, err
	}
	got := read(answers[0])
	got.spent = m.spent.each(len(answers[0]))
	return got, m.err
}

// claimSQL is the server's claim and nothing else.
//
//go:embed claim.sql
var claimSQL string

const (
	forgetOrders = `TRUNCATE paper_orders, audit_log, positions`
	forgetKeys   = `TRUNCATE idempotency_keys`
)

// ready brings a database to where every measurement begins.
func (r *retention) ready(ctx context.Context, db *database) error {
	if db == r.empty {
		if err := db.do(ctx, forgetKeys); err != nil {
			return err
		}
	}
	return db.do(ctx, forgetOrders, `VACUUM (ANALYZE) accounts`, checkpoint)
}

// sizes compares the empty table with the full one, and with itself.
func (r *retention) sizes(ctx context.Context) error {
	fmt.Printf("\nround   fresh orders, p99 ms: empty  again   full   claims alone (pgbench), p99 ms: empty  again   full\n")
	var empty, again, full [2][]float64
	for round := range r.rounds {
		for _, w := range []struct {
			db *database
			to *[2][]float64
		}{{r.empty, &empty}, {r.full, &full}, {r.empty, &again}} {
			orders, claims, err := r.both(ctx, w.db)
			if err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
			w.to[0], w.to[1] = append(w.to[0], orders.p99()), append(w.to[1], claims.p99())
		}
		fmt.Printf("%5d   %27.1f %6.1f %6.1f   %39.2f %6.2f %6.2f\n", round+1,
			empty[0][round], again[0][round], full[0][round], empty[1][round], again[1][round], full[1][round])
	}
	limit := bar{1.3, true}
	for i, what := range []string{"fresh orders' p99", "claims' p99"} {
		ratio := bench.Ratio(mean(empty[i], again[i]), full[i])
		fmt.Printf("%-18s full over empty %s   noise %s   %s\n", what, show(ratio), show(bench.Ratio(empty[i], again[i])), limit.say(ratio))
	}
	return nil
}

func (r *retention) both(ctx context.Context, db *database) (orders, claims reading, err error) {
	if err := r.ready(ctx, db); err != nil {
		return orders, claims, err
	}
	if orders, err = r.orders(ctx, db); err != nil {
		return orders, claims, err
	}
	if err := r.ready(ctx, db); err != nil {
		return orders, claims, err
	}
	claims, err = db.pgbench(ctx, claimSQL, r.length, r.rate)
	return orders, claims, err
}

// mean is the geometric one of pairs: one window that the disk stood still in counts as much as one that it did not.
func mean(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = math.Sqrt(a[i] * b[i])
	}
	return out
}
