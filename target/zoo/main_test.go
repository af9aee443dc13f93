package zoo

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/migrations"
)

// cluster serves all tests of the package; each test has a database of its own, copied from template.
var cluster *pgcluster.Cluster

const template = "migrated"

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	ctx := context.Background()
	var err error
	if cluster, err = pgcluster.Start(ctx, pgcluster.Options{Fast: true}); err != nil {
		fmt.Fprintln(os.Stderr, "start PostgreSQL:", err)
		return 1
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
			code = 1
		}
	}()
	if err := cluster.CreateDatabase(ctx, template); err != nil {
		fmt.Fprintln(os.Stderr, "create template:", err)
		return 1
	}
	if _, err := migrations.Up(ctx, cluster.DSN(template)); err != nil {
		fmt.Fprintln(os.Stderr, "migrate template:", err)
		return 1
	}
	return m.Run()
}
