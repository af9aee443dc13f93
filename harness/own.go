package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

var errPoolerNotOurs = errors.New("subject.pgbouncer: it is put before a server of our own only; leave out --dsn")

// ownOptions are those of a server that serves one run alone. It has no more connection slots than the run needs, so that they can be
// exhausted; a pair of servers keeps the lab's.
func (l *Lab) ownOptions(spec subject.Spec, faults []fault.Spec) pgcluster.Options {
	o := pgcluster.Options{BinDir: l.binDir, Settings: maps.Clone(labSettings)}
	if spec.Standby == "" {
		o.Settings["max_connections"] = strconv.Itoa(spec.Connections() + spareConnections)
	}
	if fault.NeedsSmallDisk(faults) {
		o.SmallDisk = smallDisk
	}
	return o
}

// startBouncer puts a pgbouncer before the database, where the scenario wants one. Its sessions are fewer than its clients: what a
// client leaves in a session, another one finds.
func (r *rig) startBouncer(ctx context.Context) (err error) {
	if !r.bundle.Spec.PgBouncer {
		return nil
	}
	if r.store.cluster == nil {
		return errPoolerNotOurs
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
