package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// insidePostgres is a condition of a database server that runs on. It is felt by the errors of one SQLSTATE that the server gives its
// clients meanwhile, as its own log tells.
type insidePostgres struct {
	cluster    *pgcluster.Cluster
	code       string // SQLSTATE
	begin, end func(ctx context.Context, s *insidePostgres) error

	admin        *pgx.Conn // from Inject until Heal
	before, felt int64     // errors given
}

// changing makes the strike of a kind that changes the condition of the database server.
func changing(code string, begin, end func(context.Context, *insidePostgres) error) func(Spec, World) (Strike, error) {
	return func(_ Spec, w World) (Strike, error) {
		if w.Postgres == nil {
			return nil, errNotOurs
		}
		return &insidePostgres{cluster: w.Postgres, code: code, begin: begin, end: end}, nil
	}
}

var errNotOurs = errors.New("postgres: a server given by --dsn is not ours to strike")

// checkWhole is the Check of what strikes the database server, and with it every replica.
func checkWhole(s Spec) error {
	if s.Replica != 0 {
		return fmt.Errorf("replica: %d, but %s strikes all replicas at once; leave it out", s.Replica, s.Kind)
	}
	return nil
}

// Inject implements Strike. Once begun it goes on to its end when the run is stopped: a change that is broken off on its way to the server
// might arrive there after its healing.
func (s *insidePostgres) Inject(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), beginWithin)
	defer cancel()
	if s.admin, err = s.connect(ctx); err != nil {
		return err
	}
	if err := s.begin(ctx, s); err != nil {
		return err
	}
	s.before, err = s.cluster.ErrorsGiven(ctx, s.admin, s.code)
	return err
}

// Heal implements Strike.
func (s *insidePostgres) Heal(ctx context.Context) error {
	if s.admin == nil {
		return nil
	}
	defer func() { _ = s.admin.Close(context.WithoutCancel(ctx)) }()
	if err := s.end(ctx, s); err != nil {
		return err
	}
	after, err := s.cluster.ErrorsGiven(ctx, s.admin, s.code)
	s.felt = after - s.before
	return err
}

// Felt implements Strike: errors that clients were given.
func (s *insidePostgres) Felt() int64 { return s.felt }

// beginWithin bounds the way into the condition.
const beginWithin = 20 * time.Second

// connect waits for a server that an earlier fault's healing is still bringing back.
func (s *insidePostgres) connect(ctx context.Context) (conn *pgx.Conn, err error) {
	var last error
	err = until(ctx, func(ctx context.Context) (bool, error) {
		conn, last = pgx.Connect(ctx, s.cluster.DSN("postgres"))
		return last == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reach the database server: %w: %w", err, last)
	}
	return conn, nil
}

// again replaces an administrator's session that an interruption has broken.
func (s *insidePostgres) again(ctx context.Context) (err error) {
	if s.admin.IsClosed() {
		s.admin, err = s.connect(ctx)
	}
	return err
}

// lookEvery is how often a condition that the server brings about by itself is looked at.
const lookEvery = 2 * time.Millisecond

// until looks until something is so, or ctx ends.
func until(ctx context.Context, so func(context.Context) (bool, error)) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		done, err := so(ctx)
		if done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
