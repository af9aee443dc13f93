package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// errNotOurs is about a scenario that needs servers of its own while one was given.
var errNotOurs = errors.New("this scenario strikes PostgreSQL itself or gives it a standby, and a server given by --dsn is not ours to change; leave --dsn out")

// ownDatabase is the database of a run that has a server for itself.
const ownDatabase = "idemstorm"

// storeFor gives a run its database: one of the lab's server, or, where a fault strikes PostgreSQL itself or it has a standby, one of a server
// that serves this run alone.
func (l *Lab) storeFor(ctx context.Context, spec subject.Spec, faults []fault.Spec) (store, error) {
	switch {
	case spec.Standby == "" && !fault.NeedsPostgres(faults):
		return l.newStore(ctx)
	case l.cluster == nil:
		return store{}, errNotOurs
	}
	return ownStore(ctx, l.ownOptions(spec, faults), pgcluster.Replication(spec.Standby))
}

// ownStore starts a server, and its standby where one is wanted. On an error nothing is left.
func ownStore(ctx context.Context, o pgcluster.Options, standby pgcluster.Replication) (s store, err error) {
	s.drop = func(context.Context) error { return s.close() }
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = store{}
		}
	}()
	s.cluster, err = pgcluster.Start(ctx, o)
	switch {
	case errors.Is(err, pgcluster.ErrNoSmallDisk):
		return s, fmt.Errorf("fault postgres-disk-full: %w", err)
	case err != nil:
		return s, fmt.Errorf("start a PostgreSQL for the run's faults: %w", err)
	}
	s.name = ownDatabase
	s.addr, s.dsn = s.cluster.Addr(), s.cluster.DSN(ownDatabase)
	if standby != "" {
		if err := s.openPair(ctx, standby); err != nil {
			return s, err
		}
	}
	return s, s.cluster.CreateDatabase(ctx, ownDatabase)
}

// openPair adds the standby, and the way on which the harness itself finds whichever of the two is in charge.
func (s *store) openPair(ctx context.Context, mode pgcluster.Replication) (err error) {
	if s.standby, err = s.cluster.StartStandby(ctx, mode); err != nil {
		return err
	}
	if s.front, err = pgwire.Listen(pgwire.Options{Upstream: s.addr}); err != nil {
		return fmt.Errorf("open the harness's own way to the database: %w", err)
	}
	s.dsn, err = pgcluster.Via(s.dsn, s.front.Addr())
	return err
}

// close ends what ownStore started, the standby last: its primary may wait for it.
func (s *store) close() error {
	var errs []error
	if s.front != nil {
		errs = append(errs, s.front.Close())
	}
	for _, c := range []*pgcluster.Cluster{s.cluster, s.standby} {
		if c != nil {
			errs = append(errs, c.Stop())
		}
	}
	return errors.Join(errs...)
}
