package fault

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// postgresRestart is maintenance: sessions are cut, data is written, and the server is back when the fault ends.
var postgresRestart = Kind{
	Name:   "postgres-restart",
	Story:  "the database server is shut down in good order and started again when the fault ends",
	Sees:   "503 until it is back; sessions cut in order",
	Holds:  "sessions that were cut are not reused; what was acknowledged is there",
	Total:  true,
	On:     onlyPostgres,
	Strike: onPostgres(func(ctx context.Context, c *pgcluster.Cluster) error { return c.Halt(ctx) }, restartPostgres),
}
