// Package claim measures what at-most-once costs: every cell of a grid of claim strategies, run after run, on the bundled server and a PostgreSQL.
//
// It stands beside harness.Run, and puts the same stages together another way: a plan, the driver and its history, a server started as everywhere.
// What it measures goes to harness/bench, which says what may be said of it. Every measurement starts from the same state: a server process of
// its own, warmed up, and empty tables behind a checkpoint. And every measurement is checked: a key that was executed twice ends the benchmark.
package claim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Options say what is measured and on what. All but DSN, BinDir, Progress and Environment must be set.
type Options struct {
	Exe     string // the binary that serves
	DSN     string // a given server; "" starts a throwaway one
	BinDir  string // folder of the PostgreSQL binaries; "" looks for them
	Grid    bench.Grid
	Runs    int
	Warm    time.Duration // before every measurement
	Measure time.Duration // about how long a measurement takes; its keys are counted out by the rate of the warm-up
	Pool    int           // connections of each of the server's two pools
	Seed    uint64        // of the order and of all plans
	Tool    string        // version, for the results

	Progress    Progress
	Environment func(ctx context.Context, dsn string, ours bool) ([]verdict.Fact, error)
}

// Progress is told how many measurements there are to make and each that was made.
type Progress interface {
	Phase(name string, total int64)
	Add(n int64)
}

// Limits of the options.
const (
	maxRuns    = 1000
	maxMeasure = 10 * time.Minute
	maxPool    = 200
)

// ErrUnreachable is wrapped by errors about a database or a server that could not be reached or started.
var ErrUnreachable = errors.New("the server or its database could not be reached or started")

// Validate refuses what cannot be meant. The error names the flag.
func (o Options) Validate() error {
	switch {
	case o.Runs < 1 || o.Runs > maxRuns:
		return fmt.Errorf("--runs: %d is not between 1 and %d", o.Runs, maxRuns)
	case o.Measure < 10*time.Millisecond || o.Measure > maxMeasure:
		return fmt.Errorf("--duration: %v is not between 10ms and %v", o.Measure, maxMeasure)
	case o.Warm < 10*time.Millisecond || o.Warm > maxMeasure:
		return fmt.Errorf("--warm-up: %v is not between 10ms and %v", o.Warm, maxMeasure)
	case o.Pool < 1 || o.Pool > maxPool:
		return fmt.Errorf("--pool: %d is not between 1 and %d", o.Pool, maxPool)
	}
	return o.Grid.Validate()
}

// Bench is one benchmark under way.
type Bench struct {
	Options
	stage  *stage
	result bench.Result
	times  latency.Set // of all runs, by cell and role
}

// Run measures everything. When ctx ends it returns what had been measured, marked as interrupted and without an error; with an error too,
// the result holds what was measured before.
func Run(ctx context.Context, o Options) (result bench.Result, err error) {
	if err := o.Validate(); err != nil {
		return result, err
	}
	b := &Bench{Options: o}
	b.result = bench.Result{
		Schema: bench.Schema, Kind: "claim", Tool: o.Tool, Started: time.Now(), Seed: o.Seed, Grid: o.Grid, Runs: o.Runs, Warm: o.Warm,
		Measure: o.Measure, Pool: o.Pool,
	}
	dir, err := os.MkdirTemp("", "idemstorm-bench-")
	if err != nil {
		return result, fmt.Errorf("make a folder for the servers' logs: %w", err)
	}
	err = b.inside(ctx, dir)
	return b.finish(ctx), keepLogs(ctx, dir, err)
}

// keepLogs leaves the folder only where an error needs what is in it.
func keepLogs(ctx context.Context, dir string, err error) error {
	files, _ := os.ReadDir(dir) // a folder that cannot be read has nothing to show
	if err != nil && ctx.Err() == nil && len(files) > 0 {
		return fmt.Errorf("%w (logs in %s)", err, dir)
	}
	if ctx.Err() != nil {
		err = nil // what failed after the end failed because of it
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// inside does everything between the making of a folder and its end.
func (b *Bench) inside(ctx context.Context, dir string) (err error) {
	b.noteLoad()
	if err := b.leaveOut(); err != nil {
		return err
	}
	b.stage, err = openStage(ctx, b.Options, dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer func() { err = errors.Join(err, b.stage.close(ctx)) }()
	b.result.Notes = append(b.result.Notes, b.stage.notes...)
	if b.Environment != nil {
		if b.result.Environment, err = b.Environment(ctx, b.stage.databases[b.Grid.SyncCommit[0]].dsn, b.DSN == ""); err != nil {
			return err
		}
	}
	if err := b.roundTrips(ctx); err != nil {
		return err
	}
	return b.rounds(ctx)
}

// noteLoad says so when others use the machine: then the noise is theirs. Only Linux tells.
func (b *Bench) noteLoad() {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return
	}
	var load float64
	if _, err := fmt.Sscan(string(data), &load); err == nil && load > float64(runtime.NumCPU()) {
		b.result.Notes = append(b.result.Notes, fmt.Sprintf(
			"The machine was busy before it began: a load of %.1f on %d CPUs; expect wide intervals, and quote no rate", load, runtime.NumCPU()))
	}
}

// leaveOut takes out of the grid what this machine has no program for, and says so.
func (b *Bench) leaveOut() error {
	out := func(series string, why error) {
		b.result.LeftOut = append(b.result.LeftOut, bench.LeftOut{Series: series, Why: why.Error()})
	}
	var kept []string
	for _, name := range b.Grid.Strategies {
		strategy, _ := contract.FindStrategy(name)
		_, err := subject.NewRedis("")
		if strategy.Redis && err != nil {
			out(name, err)
			continue
		}
		kept = append(kept, name)
		if strategy.Weaker != "" {
			b.result.Notes = append(b.result.Notes, name+" promises less: "+strategy.Weaker)
		}
	}
	if b.Grid.Strategies = kept; len(kept) == 0 {
		return fmt.Errorf("%w: of the strategies none can run here: %w", ErrUnreachable, subject.ErrNoRedis)
	}
	if b.Grid.Floor {
		if _, err := pgbenchIn(b.BinDir); err != nil {
			out(bench.Floor, err)
			b.Grid.Floor = false
		}
	}
	b.result.Grid = b.Grid
	return nil
}

// rounds measures every cell once a run, each run in an order of its own.
func (b *Bench) rounds(ctx context.Context) error {
	cells := b.Grid.Cells()
	b.tell(func(p Progress) { p.Phase("bench claim", int64(len(cells)*b.Runs)) })
	for run := 1; run <= b.Runs; run++ {
		for place, i := range bench.Order(len(cells), b.Seed, run) {
			m, err := b.measure(ctx, cells[i], uint64(run*len(cells)+place))
			switch {
			case ctx.Err() != nil:
				return nil // what had not ended counts for nothing
			case err != nil:
				return fmt.Errorf("%v, run %d: %w", cells[i], run, err)
			}
			m.Run, m.Place = run, place+1
			b.result.Measurements = append(b.result.Measurements, m)
			b.tell(func(p Progress) { p.Add(1) })
		}
	}
	return nil
}

func (b *Bench) tell(what func(Progress)) {
	if b.Progress != nil {
		what(b.Progress)
	}
}

// finish completes the result with what is made over all runs.
func (b *Bench) finish(ctx context.Context) bench.Result {
	b.result.Took = time.Since(b.result.Started)
	b.result.Interrupted = ctx.Err() != nil
	for _, cell := range b.Grid.Cells() {
		for _, role := range bench.Roles {
			if s := b.times.Summary(series(cell, role)); s.Count > 0 {
				b.result.Pooled = append(b.result.Pooled, bench.Pooled{Cell: cell, Role: role, Summary: s})
			}
		}
	}
	return b.result
}

// series is where a cell's times of one role are gathered.
func series(c bench.Cell, role bench.Role) latency.Series {
	return latency.Series{Group: c.String() + " " + string(role), Kind: latency.Service}
}
