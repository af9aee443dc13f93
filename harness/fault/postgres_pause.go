package fault

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// postgresPause hangs the database server: connections stay open and nothing answers.
var postgresPause = Kind{
	Name:  "postgres-pause",
	Story: "every process of the database server stands still (SIGSTOP) and goes on when the fault ends",
	Sees:  "503 after the deadline on every route",
	Holds: "every wait has a bound; nothing executes meanwhile; work that was under way ends once",
	Total: true,
	On:    onlyPostgres,
	Strike: onPostgres(
		func(_ context.Context, c *pgcluster.Cluster) error { return c.Pause() },
		func(_ context.Context, c *pgcluster.Cluster) error { return c.Resume() },
	),
}
