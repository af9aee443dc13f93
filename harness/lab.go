// Package harness puts a run together: it is the one place where scenario, plan, subject, driver, faults, evidence and checks meet.
//
// It stays thin. Every stage is a package of its own and hands a value to the next; what is decided here is only the order.
package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// ErrUnreachable is wrapped by errors about a target or a database that could not be reached or started.
var ErrUnreachable = errors.New("the target or its database could not be reached or started")

// LabOptions say where the PostgreSQL of the runs comes from.
type LabOptions struct {
	DSN    string // a given server; "" starts a throwaway one
	BinDir string // folder of the PostgreSQL binaries; "" looks for them

	Say func(line string) // takes what is worth telling people about a given server; nil tells nobody
}

// Lab is a PostgreSQL server for any number of runs, each in a database of its own.
type Lab struct {
	cluster *pgcluster.Cluster // nil with a given server
	dsn     string
	binDir  string // of the PostgreSQL binaries; "" looks for them
	made    atomic.Int64
}

// OpenLab finds or starts a server. Close removes what was started. A given server is freed of what killed runs have left there.
func OpenLab(ctx context.Context, o LabOptions) (*Lab, error) {
	if o.DSN != "" {
		o.sweep(ctx)
		return &Lab{dsn: o.DSN}, nil
	}
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{BinDir: o.BinDir, Settings: labSettings})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return &Lab{cluster: cluster, binDir: o.BinDir}, nil
}

// sweepWithin bounds the tidying of a given server, which no run depends on.
const sweepWithin = 15 * time.Second

// sweep says what it dropped. Whatever kept it from looking, such as a server that cannot be reached, is the next step's to report.
func (o LabOptions) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	dropped, _ := pgcluster.Sweep(ctx, o.DSN)
	if len(dropped) > 0 && o.Say != nil {
		o.Say("dropped what killed runs had left on the server: " + strings.Join(dropped, ", "))
	}
}

// NoLab is for runs against a service that runs already, with a database of its own.
func NoLab() *Lab { return &Lab{} }

// labSettings leave durability as users have it: the order of commits and what a crash keeps are part of what is tested.
var labSettings = map[string]string{"max_connections": "1000"}

// Close stops and removes a throwaway server.
func (l *Lab) Close() error {
	if l.cluster == nil {
		return nil
	}
	return l.cluster.Stop()
}

// store is one database of a lab.
type store struct {
	dsn, addr string
	name      string             // of the database; "" when the server is not ours
	cluster   *pgcluster.Cluster // nil when the server is not ours
	standby   *pgcluster.Cluster // of cluster, where the subject has one
	front     *pgwire.Proxy      // what dsn leads through, where there is a standby: a failover leads it elsewhere
	drop      func(context.Context) error
}

func (l *Lab) newStore(ctx context.Context) (store, error) {
	if l.cluster != nil {
		name := fmt.Sprintf("idemstorm_%d_%d", os.Getpid(), l.made.Add(1))
		if err := l.cluster.CreateDatabase(ctx, name); err != nil {
			return store{}, err
		}
		drop := func(ctx context.Context) error { return l.cluster.DropDatabase(ctx, name) }
		return store{name: name, dsn: l.cluster.DSN(name), addr: l.cluster.Addr(), cluster: l.cluster, drop: drop}, nil
	}
	db, err := pgcluster.External(ctx, l.dsn)
	if err != nil {
		return store{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return store{dsn: db.DSN(), addr: db.Addr(), drop: db.Close}, nil
}
