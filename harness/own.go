package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

const (
	// spareConnections are for the harness itself: evidence, commands, faults.
	spareConnections = 24
	// smallDisk holds a run's tables with room for its rows, in bytes of memory.
	smallDisk = 64 << 20
	// pooledShare is how many clients of a pgbouncer there are to one of its sessions.
	pooledShare = 4
	leastPooled = 4
)

// openStore gives a run its database: one of the lab's server, or a whole server of its own, when faults strike what all would feel. It has
// no more connection slots than the run needs, so that they can be exhausted.
func (l *Lab) openStore(ctx context.Context, spec subject.Spec, faults []fault.Spec) (store, error) {
	if l.cluster == nil || !fault.NeedsPostgres(faults) {
		return l.newStore(ctx)
	}
	options := pgcluster.Options{
		BinDir:   l.cluster.BinDir(),
		Settings: map[string]string{"max_connections": strconv.Itoa(spec.Connections() + spareConnections)},
	}
	if fault.NeedsSmallDisk(faults) {
		options.SmallDisk = smallDisk
	}
	cluster, err := pgcluster.Start(ctx, options)
	switch {
	case errors.Is(err, pgcluster.ErrNoSmallDisk):
		return store{}, fmt.Errorf("fault postgres-disk-full: %w", err)
	case err != nil:
		return store{}, fmt.Errorf("start a PostgreSQL for the run's faults: %w", err)
	}
	s, err := (&Lab{cluster: cluster}).newStore(ctx)
	s.drop = func(context.Context) error { return cluster.Stop() }
	return s, err
}

// startBouncer puts a pgbouncer before the database, where the scenario wants one. Its sessions are fewer than its clients: what a
// client leaves in a session, another one finds.
func (r *rig) startBouncer(ctx context.Context) (err error) {
	if !r.bundle.Spec.PgBouncer {
		return nil
	}
	if r.store.cluster == nil {
		return errors.New("subject.pgbouncer: it is put before a server of our own only; leave out --dsn")
	}
	if r.bouncerLog, err = os.Create(filepath.Join(r.bundle.Dir, "pgbouncer.log")); err != nil {
		return fmt.Errorf("open pgbouncer's log: %w", err)
	}
	clients := r.bundle.Spec.Connections()
	r.bouncer, err = r.store.cluster.StartBouncer(ctx, pgcluster.BouncerOptions{
		Database: r.store.name, Clients: clients + spareConnections, Sessions: max(clients/pooledShare, leastPooled), Log: r.bouncerLog,
	})
	return err
}

func (r *rig) stopBouncer() error {
	if r.bouncerLog != nil {
		defer r.bouncerLog.Close() // a line that is lost is no fact of the run
	}
	if r.bouncer == nil {
		return nil
	}
	return r.bouncer.Kill()
}

// upstream is what the paths lead to, and the address that servers are given, before a proxy takes the place of its host.
func (r *rig) upstream() (addr, dsn string) {
	if r.bouncer != nil {
		return r.bouncer.Addr(), r.bouncer.DSN()
	}
	return r.store.addr, r.store.dsn
}

// between says what stands between servers and database.
func (r *rig) between() []verdict.Fact {
	if r.bouncer == nil {
		return nil
	}
	return []verdict.Fact{{Name: "pgbouncer", Value: r.bouncer.Describe()}}
}
