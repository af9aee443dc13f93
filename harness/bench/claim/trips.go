package claim

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/subject"
)

const (
	tripKeys    = 20
	tripWarmUps = 2 // of as many keys: until every statement of every path is prepared
	tripBound   = 20 * time.Second
)

// roundTrips counts on the wire how often a server of each series waits for its database. It is a property of the code, not of the load, so it is
// counted once: one client, one connection in each pool, everything prepared before.
func (b *Bench) roundTrips(ctx context.Context) error {
	for _, series := range b.Grid.Series() {
		if series == b.Grid.Again() || series == bench.Floor {
			continue
		}
		trips, err := b.tripsOf(ctx, bench.Cell{Series: series, Setting: bench.Setting{Clients: 1, Duplicates: 1, SyncCommit: b.Grid.SyncCommit[0]}})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("count the round trips of %s: %w", series, err)
		}
		b.result.RoundTrips = append(b.result.RoundTrips, trips)
	}
	return nil
}

func (b *Bench) tripsOf(ctx context.Context, c bench.Cell) (trips bench.RoundTrips, err error) {
	db := b.stage.databases[c.SyncCommit]
	if err := db.reset(ctx); err != nil {
		return trips, err
	}
	counter := &tripCounter{}
	proxy, err := pgwire.Listen(pgwire.Options{Upstream: db.addr, Controller: counter})
	if err != nil {
		return trips, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	dsn, err := pgcluster.Via(db.dsn, proxy.Addr())
	if err != nil {
		return trips, err
	}
	bundle := b.stage.bundle(c, 1)
	replica := bundle.Replica(1, subject.Paths{Database: dsn, Store: dsn})
	if err := replica.Start(ctx); err != nil {
		return trips, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer func() { err = errors.Join(err, replica.Stop(context.WithoutCancel(ctx))) }()
	l := &load{bench: b, cell: c, db: db, replica: replica, contract: bundle.Spec.Contract()}
	phases := l.phases(tripKeys, tripBound)
	for range tripWarmUps {
		if _, err := l.play(ctx, phases, nil); err != nil {
			return trips, fmt.Errorf("warm up: %w", err)
		}
	}
	if _, err := l.play(ctx, phases, counter); err != nil {
		return trips, err
	}
	return bench.RoundTrips{Series: c.Series, Winner: counter.of(race), Replay: counter.of(again)}, nil
}

// tripCounter counts what a database receives in one go, by the phase of the load.
type tripCounter struct {
	steps atomic.Int64
	begun int64
	phase string
	done  map[string]int64
}

// Decide implements pgwire.Controller.
func (c *tripCounter) Decide(context.Context, *pgwire.Step) pgwire.Action {
	c.steps.Add(1)
	return pgwire.Action{}
}

// Ended implements pgwire.Controller.
func (c *tripCounter) Ended(*pgwire.Step, pgwire.Outcome) {}

// Phase implements drive.Progress.
func (c *tripCounter) Phase(name string, _ int64) { c.phase, c.begun = name, c.steps.Load() }

// Add implements drive.Progress.
func (c *tripCounter) Add(int64) {}

// Done implements drive.Progress.
func (c *tripCounter) Done() {
	if c.done == nil {
		c.done = map[string]int64{}
	}
	c.done[c.phase] = c.steps.Load() - c.begun
}

// of is how many there were for each request of a phase.
func (c *tripCounter) of(phase string) float64 { return float64(c.done[phase]) / tripKeys }
