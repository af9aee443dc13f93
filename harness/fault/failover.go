package fault

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// failover replaces the database server by its standby. Before the kill, replication is held for the time of lag (the primary's sender stands
// still), so that asynchronous replication loses what was acknowledged meanwhile for certain, and under synchronous replication commits wait. The
// old primary never comes back.
var failover = Kind{
	Name:  "failover",
	Story: "replication is held for a while (lag), the database server is killed, and its standby is promoted and takes over when the fault ends",
	Sees:  "503 until the standby has taken over; where replication is asynchronous, an acknowledged order that is gone",
	Holds: "nothing acknowledged is lost under synchronous replication; under asynchronous replication only what was acknowledged within lag of the strike, each listed; no key that is left runs again",
	Total: true,
	On:    onlyPostgres,
	Check: checkLag,
	Strike: func(s Spec, w World) (Strike, error) {
		if w.Postgres == nil || w.Standby == nil || w.Note == nil {
			return nil, errors.New("failover: this run has no standby; set subject.standby")
		}
		f := &fallback{world: w, held: s.Lag > 0}
		return &crashStrike{kind: s.Kind, lag: s.Lag, world: w, weaken: f.hold, relent: f.release, revive: f.takeOver}, nil
	},
}

// fallback is what failover does to a pair of servers.
type fallback struct {
	world World
	held  bool
}

func (f *fallback) hold(ctx context.Context) error {
	if err := f.world.Postgres.AwaitReplicated(ctx); err != nil || !f.held {
		return err
	}
	return f.world.Postgres.Hold(ctx, pgcluster.WALSender)
}

func (f *fallback) release(context.Context) error { return f.world.Postgres.Resume() }

// takeOver promotes the standby, leads every way there, cuts what hangs on the old one, and returns when each way takes writes again.
func (f *fallback) takeOver(ctx context.Context) error {
	if err := f.world.Standby.Promote(ctx); err != nil {
		return err
	}
	for _, proxy := range f.proxies() {
		proxy.SetUpstream(f.world.Standby.Addr())
		proxy.Reset()
	}
	for _, proxy := range f.proxies() {
		if err := awaitWritable(ctx, f.world.Database, proxy); err != nil {
			return err
		}
	}
	return nil
}

func (f *fallback) proxies() (list []*pgwire.Proxy) {
	for _, p := range f.world.Paths {
		list = append(list, p.Proxy)
	}
	if f.world.Front != nil {
		list = append(list, f.world.Front)
	}
	return list
}

// assignTransaction succeeds where writes do, and writes nothing.
const assignTransaction = `SELECT pg_current_xact_id()::text`

func awaitWritable(ctx context.Context, dsn string, proxy *pgwire.Proxy) error {
	through, err := pgcluster.Via(dsn, proxy.Addr())
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, through)
	if err != nil {
		return fmt.Errorf("reach the promoted standby through a path: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, assignTransaction); err != nil {
		return fmt.Errorf("write to the promoted standby: %w", err)
	}
	return nil
}
