package pgcluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

func TestAClusterStarts(t *testing.T) {
	t0 := time.Now()
	c, err := pgcluster.Start(context.Background(), pgcluster.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(c.Version(), c.Addr(), time.Since(t0))
	if err := c.CreateDatabase(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	t0 = time.Now()
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(t0))
}
