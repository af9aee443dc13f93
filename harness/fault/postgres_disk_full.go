package fault

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// postgresDiskFull fills the disk that the run's tables lie on. It is no total outage: a row that fits into a page that is there already
// is still taken, so some requests go through, others fail in the middle, and marking them failed may fail too.
var postgresDiskFull = Kind{
	Name:  "postgres-disk-full",
	Story: "the disk of the tables is full: a statement that needs a new page fails (SQLSTATE 53100) until the fault ends",
	Sees:  "503, or an answer where a row still fits",
	Holds: "an order is whole or absent; an order whose record could not be written is not there",
	On:    onlyPostgres,
	Check: checkWhole,
	Strike: func(s Spec, w World) (Strike, error) {
		if w.Postgres != nil && !w.Postgres.HasSmallDisk() {
			return nil, fmt.Errorf("%s: %w", s.Kind, pgcluster.ErrNoSmallDisk)
		}
		return changing("53100",
			func(_ context.Context, s *insidePostgres) error { return s.cluster.FillDisk() },
			func(ctx context.Context, s *insidePostgres) error {
				if err := s.cluster.FreeDisk(); err != nil {
					return err
				}
				return s.again(ctx)
			},
		)(s, w)
	},
}

// NeedsSmallDisk says whether a fault fills the disk, so that the run's tables must lie on a small one.
func NeedsSmallDisk(specs []Spec) bool {
	for _, s := range specs {
		if s.Kind == postgresDiskFull.Name {
			return true
		}
	}
	return false
}
