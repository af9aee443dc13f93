package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/provider"
	"github.com/idemstorm/idemstorm/harness/subject"
)

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// buildTarget starts somebody else's server, or reaches the one that runs. On an error what was started is taken down.
func buildTarget(ctx context.Context, lab *Lab, o Options) (r *rig, err error) {
	r = &rig{bundle: o.bundle(), target: o.Target, wire: fault.NeedsWire(o.Scenario.Faults), fixture: fixtureOf(*o.Target), counted: o.Counters}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: %w", ErrUnreachable, err), r.close(ctx))
		}
	}()
	if r.target.Running() {
		return r, r.standBefore()
	}
	if r.store, err = lab.storeFor(ctx, o.Scenario.Subject, o.Scenario.Faults); err != nil {
		return r, err
	}
	if err := r.startTargetProvider(ctx); err != nil {
		return r, err
	}
	if err := prepareTarget(ctx, *r.target, r.store.dsn); err != nil {
		return r, err
	}
	return r, r.startTarget(ctx)
}

// fixtureOf numbers the users of a target from 1.
func fixtureOf(t subject.Target) (f subject.Fixture) {
	for n := range t.Accounts() {
		f.Users = append(f.Users, subject.Account{ID: int64(n + 1)})
	}
	return f
}

func (r *rig) startTargetProvider(ctx context.Context) (err error) {
	p := r.target.Evidence.Provider
	if p.Env == "" {
		return nil
	}
	behaviour := provider.Behaviour{NoDedup: p.NoDedup}
	if r.provider, err = provider.Start(ctx, provider.Options{Dir: r.bundle.Dir, Behaviour: behaviour}); err != nil {
		return err
	}
	told := r.target.WithProvider(r.provider.URL())
	r.target = &told
	return nil
}

// prepareTarget makes the target's tables in a database of the harness's own.
func prepareTarget(ctx context.Context, t subject.Target, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("connect to the target's database: %w", err)
	}
	err = t.Prepare(ctx, dsn, func(sql string) error {
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		return err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", t.File(), err)
	}
	return errors.Join(err, conn.Close(ctx))
}

// startTarget starts one process after the other: the first may be making the tables.
func (r *rig) startTarget(ctx context.Context) error {
	for n := 1; n <= r.target.Start.Replicas; n++ {
		proxy, err := pgwire.Listen(pgwire.Options{Upstream: r.store.addr, Follow: r.wire})
		if err != nil {
			return fmt.Errorf("open the database path of process %d: %w", n, err)
		}
		r.paths = append(r.paths, fault.Path{Target: fault.Database, Replica: n, Proxy: proxy})
		dsn, err := pgcluster.Via(r.store.dsn, proxy.Addr())
		if err != nil {
			return err
		}
		replica, err := r.target.Replica(n, dsn, r.bundle.Dir)
		if err != nil {
			return err
		}
		r.replicas = append(r.replicas, replica)
		if err := replica.Start(ctx); err != nil {
			return r.target.StartError(err)
		}
	}
	return nil
}

// standBefore opens the proxy that a running service was told is its database, where it was.
func (r *rig) standBefore() error {
	d := r.target.Database
	if d.Listen == "" {
		return nil
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		return errors.New("database.url: it is no URL")
	}
	upstream := u.Host
	if u.Port() == "" {
		upstream += ":5432"
	}
	proxy, err := pgwire.Listen(pgwire.Options{Addr: d.Listen, Upstream: upstream, Follow: r.wire})
	if err != nil {
		return fmt.Errorf("%s: database.listen: %w; choose another port, and point the service there", r.target.File(), err)
	}
	for n := range r.target.URL {
		r.paths = append(r.paths, fault.Path{Target: fault.Database, Replica: n + 1, Proxy: proxy})
	}
	return nil
}

// logs are the files that take what the target's processes print.
func (r *rig) targetLogs() (paths []string) {
	for _, replica := range r.replicas {
		paths = append(paths, subject.LogPath(r.bundle.Dir, replica.Number))
	}
	return paths
}

// FileContract is the name of the file that keeps what somebody else's server promises.
const FileContract = "contract.json"

func contractPath(dir string) string { return filepath.Join(dir, FileContract) }
