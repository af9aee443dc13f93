package fault

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// postgresKill is a crash of the database server, and its recovery from the write-ahead log.
var postgresKill = Kind{
	Name:   "postgres-kill",
	Story:  "every process of the database server is killed; it recovers from its log when the fault ends",
	Sees:   "503 until it has recovered from its log; connections reset",
	Holds:  "what was acknowledged is there after crash recovery, and nothing else",
	Total:  true,
	On:     onlyPostgres,
	Strike: onPostgres(func(_ context.Context, c *pgcluster.Cluster) error { return c.Kill() }, restartPostgres),
}
