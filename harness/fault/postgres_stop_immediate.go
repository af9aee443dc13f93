package fault

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// postgresStopImmediate is what an operator does who does not want to wait: pg_ctl stop -m immediate.
var postgresStopImmediate = Kind{
	Name:   "postgres-stop-immediate",
	Story:  "the database server is stopped at once, without a checkpoint; it recovers from its log when the fault ends",
	Sees:   "503 until it has recovered from its log; connections reset",
	Holds:  "what was acknowledged is there after crash recovery, and nothing else",
	Total:  true,
	On:     onlyPostgres,
	Check:  checkWhole,
	Strike: onPostgres(func(ctx context.Context, c *pgcluster.Cluster) error { return c.HaltNow(ctx) }, restartPostgres),
}
