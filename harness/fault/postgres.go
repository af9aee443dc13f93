package fault

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

var onlyPostgres = []Target{Postgres}

// onPostgres makes the strike of a kind that does something to the database server. Every replica loses both its databases by it.
func onPostgres(stop, start func(context.Context, *pgcluster.Cluster) error) func(Spec, World) (Strike, error) {
	return func(_ Spec, w World) (Strike, error) {
		if w.Postgres == nil {
			return nil, errNotOurs
		}
		return &service{
			stop:  func(ctx context.Context) error { return stop(ctx, w.Postgres) },
			start: func(ctx context.Context) error { return start(ctx, w.Postgres) },
		}, nil
	}
}

func restartPostgres(ctx context.Context, c *pgcluster.Cluster) error { return c.Restart(ctx) }
