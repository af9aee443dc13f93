package orderserver_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/migrations"
)

// cluster serves all tests of the package; each test has a database of its own, copied from template.
var cluster *pgcluster.Cluster

const template = "migrated"

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx := context.Background()
	var err error
	if cluster, err = pgcluster.Start(ctx, pgcluster.Options{Fast: true}); err != nil {
		fmt.Fprintln(os.Stderr, "start PostgreSQL:", err)
		return 1
	}
	code := 1
	if err = prepareTemplate(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "prepare template:", err)
	} else {
		code = m.Run()
	}
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		return 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func prepareTemplate(ctx context.Context) error {
	if err := cluster.CreateDatabase(ctx, template); err != nil {
		return err
	}
	_, err := migrations.Up(ctx, cluster.DSN(template))
	return err
}
