// Command outage is what docs/bench/outage.sh measures with: the bundled server under a total outage of its key store, for as long as asked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/subject"
)

const (
	deadline = 2 * time.Second // the server's own
	before   = 3 * time.Second // of traffic before the outage
	after    = 5 * time.Second // of traffic after the heal
	users    = 2000
)

// outage is one server with its key store behind a proxy.
type outage struct {
	exe     string
	length  time.Duration
	rate    float64
	dir     string
	cluster *pgcluster.Cluster
	dsn     string
	proxy   *pgwire.Proxy
	replica *subject.Replica
	fixture subject.Fixture
}

func main() {
	var o outage
	flag.StringVar(&o.exe, "exe", "bin/idemstorm", "the program that serves")
	flag.DurationVar(&o.length, "length", time.Minute, "length of each outage")
	flag.Float64Var(&o.rate, "rate", 500, "requests a second")
	flag.Parse()
	kinds := flag.Args()
	if len(kinds) == 0 {
		kinds = []string{"path-refuse", "path-hang"}
	}
	met, err := o.run(context.Background(), kinds...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "outage:", err)
		os.Exit(2)
	}
	if !met {
		os.Exit(1)
	}
}

// run measures one outage of each kind and says whether every bound was met.
func (o *outage) run(ctx context.Context, kinds ...string) (met bool, err error) {
	defer func() { err = errors.Join(err, o.stop(ctx)) }()
	if err := o.start(ctx); err != nil {
		return false, err
	}
	met = true
	for i, kind := range kinds {
		f, err := o.measure(ctx, kind, uint64(i+1))
		if err != nil {
			return false, err
		}
		fmt.Print(f)
		met = met && f.met()
	}
	return met, nil
}

func (o *outage) start(ctx context.Context) (err error) {
	if o.dir, err = os.MkdirTemp("", "idemstorm-outage-"); err != nil {
		return err
	}
	if o.cluster, err = pgcluster.Start(ctx, pgcluster.Options{Settings: map[string]string{"max_connections": "200"}}); err != nil {
		return err
	}
	if err := o.cluster.CreateDatabase(ctx, "outage"); err != nil {
		return err
	}
	o.dsn = o.cluster.DSN("outage")
	if o.proxy, err = pgwire.Listen(pgwire.Options{Upstream: o.cluster.Addr()}); err != nil {
		return err
	}
	store, err := pgcluster.Via(o.dsn, o.proxy.Addr())
	if err != nil {
		return err
	}
	bundle := subject.Bundled{Exe: o.exe, Dir: o.dir, Spec: subject.Spec{Pool: 24, StorePool: 24, Deadline: deadline}}
	if o.fixture, err = bundle.Prepare(ctx, o.dsn, subject.Seed{Users: users, Cash: "1000000000.00", Value: 1}); err != nil {
		return err
	}
	o.replica = bundle.Replica(1, subject.Paths{Database: o.dsn, Store: store})
	return o.replica.Start(ctx)
}

func (o *outage) stop(ctx context.Context) error {
	var errs []error
	if o.replica != nil {
		errs = append(errs, o.replica.Stop(ctx))
	}
	if o.proxy != nil {
		errs = append(errs, o.proxy.Close())
	}
	if o.cluster != nil {
		errs = append(errs, o.cluster.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(o.dir))...)
}

func (o *outage) timeline(kind string) (*fault.Timeline, error) {
	specs := []fault.Spec{{Kind: kind, At: before, For: o.length, On: fault.Store}}
	return fault.NewTimeline(specs, fault.World{Paths: []fault.Path{{Target: fault.Store, Replica: 1, Proxy: o.proxy}}})
}

func (o *outage) contract() contract.Contract { return contract.ADR0138(30*time.Second, deadline) }
