package claim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
)

const (
	// fastest bounds how many keys a second a plan is made for.
	fastest = 20_000
	// leastKeys is for every client of a measurement, however slow the server is.
	leastKeys = 2
	mostKeys  = 500_000
	// overtime is how much longer than meant a measurement may take before it is broken off.
	overtime = 20
)

// measure takes one cell's measurement. seed makes its keys.
func (b *Bench) measure(ctx context.Context, c bench.Cell, seed uint64) (m bench.Measurement, err error) {
	db := b.stage.databases[c.SyncCommit]
	if err := db.reset(ctx); err != nil {
		return m, err
	}
	if c.Series == bench.Floor {
		return b.floor(ctx, db, c)
	}
	bundle := b.stage.bundle(c, b.Pool)
	replica := bundle.Replica(1, subject.Paths{Database: db.dsn, Store: db.dsn})
	if err := replica.Start(ctx); err != nil {
		return m, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer func() { err = errors.Join(err, replica.Stop(context.WithoutCancel(ctx))) }()
	l := &load{bench: b, cell: c, db: db, replica: replica, contract: bundle.Spec.Contract(), seed: seed}
	return l.measure(ctx)
}

// measure warms the server up, counts the keys out by the rate that it came to, and measures.
func (l *load) measure(ctx context.Context) (m bench.Measurement, err error) {
	warm, err := l.play(ctx, l.phases(l.warmKeys(), l.bench.Warm), nil)
	if err != nil {
		return m, fmt.Errorf("warm up: %w", err)
	}
	watch := &watch{ctx: ctx, load: l}
	keys := l.keysFor(warm.lateRate())
	played, err := l.play(ctx, l.phases(keys, max(overtime*l.bench.Measure, time.Minute)), watch)
	if err = errors.Join(err, watch.err); err != nil {
		return m, err
	}
	m = played.measurement()
	m.PerRequest = watch.perRequest(m.Requests)
	if ctx.Err() != nil {
		return m, ctx.Err()
	}
	l.bench.times.Merge(&played.times)
	return m, l.judge(ctx, warm.acked+played.acked)
}

// warmKeys are more than can be placed in the time of the warm-up.
func (l *load) warmKeys() int {
	return max(leastKeys*l.cell.Clients, int(fastest*l.bench.Warm.Seconds()))
}

// keysFor takes about the time of a measurement at a rate, keys a second.
func (l *load) keysFor(rate float64) int {
	keys := int(math.Ceil(rate * l.bench.Measure.Seconds()))
	return min(max(keys, leastKeys*l.cell.Clients), mostKeys)
}

// The phases of a load.
const (
	race  = "race"
	again = "replay"
)

// phases are the race for keys, and each key once more when all have their answer. Where nothing is claimed there is nothing to replay.
func (l *load) phases(keys int, bound time.Duration) []plan.Phase {
	base := plan.Phase{
		Clients: l.cell.Clients, Mix: map[string]int{"order": 1}, Deadline: plan.Duration(patience), Bound: plan.Duration(bound),
	}
	first, second := base, base
	first.Name, first.Shape, first.Keys, first.Duplicates = race, "race", keys, l.cell.Duplicates
	second.Name, second.Shape, second.Of = again, "again", race
	if l.cell.Series == bench.Unprotected {
		return []plan.Phase{first}
	}
	return []plan.Phase{first, second}
}
