package harness

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/provider"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// teardownWithin bounds the taking down of one run, which goes on when the run itself was interrupted.
const teardownWithin = 20 * time.Second

// rig is the running system of one scenario: a database, two proxied paths a replica, a provider, and the replicas.
type rig struct {
	bundle     subject.Bundled
	target     *subject.Target // somebody else's server; nil for the bundled one
	counted    []Counter       // sources of its evidence that the caller reads
	store      store
	fixture    subject.Fixture
	provider   *provider.Provider
	redis      *subject.Redis     // nil where the scenario wants none
	bouncer    *pgcluster.Bouncer // likewise
	bouncerLog *os.File
	wire       bool // the paths read statements
	paths      []fault.Path
	replicas   []*subject.Replica
}

// build starts everything in dir, in the order of need. On an error what was started is taken down.
func build(ctx context.Context, lab *Lab, bundle subject.Bundled, seed subject.Seed, faults []fault.Spec) (r *rig, err error) {
	r = &rig{bundle: bundle, wire: fault.NeedsWire(faults)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: %w", ErrUnreachable, err), r.close(ctx))
		}
	}()
	r.bundle.AdminToken = randomToken()
	if r.store, err = lab.storeFor(ctx, bundle.Spec, faults); err != nil {
		return r, err
	}
	if r.fixture, err = bundle.Prepare(ctx, r.store.dsn, seed); err != nil {
		return r, err
	}
	if r.provider, err = provider.Start(ctx, provider.Options{Dir: bundle.Dir}); err != nil {
		return r, err
	}
	if err := r.startRedis(ctx); err != nil {
		return r, err
	}
	if err := r.startBouncer(ctx); err != nil {
		return r, err
	}
	return r, r.startReplicas(ctx)
}

func (r *rig) startRedis(ctx context.Context) (err error) {
	if !r.bundle.Spec.WithDefaults().Redis {
		return nil
	}
	if r.redis, err = subject.NewRedis(filepath.Join(r.bundle.Dir, "redis.log")); err != nil {
		return err
	}
	r.bundle.Redis = r.redis.Addr()
	return r.redis.Start(ctx)
}

func (r *rig) startReplicas(ctx context.Context) error {
	for n := 1; n <= r.bundle.Spec.WithDefaults().Replicas; n++ {
		paths, err := r.openPaths(n)
		if err != nil {
			return err
		}
		r.replicas = append(r.replicas, r.bundle.Replica(n, paths))
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, replica := range r.replicas {
		group.Go(func() error { return replica.Start(ctx) })
	}
	return group.Wait()
}

// openPaths gives replica n a proxy to each of its databases.
func (r *rig) openPaths(n int) (subject.Paths, error) {
	paths := subject.Paths{Provider: r.provider.URL()}
	upstream, direct := r.upstream()
	for target, dsn := range map[fault.Target]*string{fault.Database: &paths.Database, fault.Store: &paths.Store} {
		proxy, err := pgwire.Listen(pgwire.Options{Upstream: upstream, Follow: r.wire})
		if err != nil {
			return paths, fmt.Errorf("open the %s path of replica %d: %w", target, n, err)
		}
		r.paths = append(r.paths, fault.Path{Target: target, Replica: n, Proxy: proxy})
		if *dsn, err = pgcluster.Via(direct, proxy.Addr()); err != nil {
			return paths, err
		}
	}
	return paths, nil
}

// urls are the replicas' addresses in order.
func (r *rig) urls() []string {
	if r.target != nil && r.target.Running() {
		return r.target.URL
	}
	var out []string
	for _, replica := range r.replicas {
		out = append(out, replica.URL())
	}
	return out
}

// logs are the replicas' log files in order.
func (r *rig) logs() []string {
	var out []string
	for _, replica := range r.replicas {
		out = append(out, r.bundle.LogPath(replica.Number))
	}
	return out
}

// token is the credential of a user; "" for one that the fixture does not have.
func (r *rig) token(user int64) string {
	switch {
	case user == history.ServiceUser:
		return r.fixture.ServiceToken
	case user < 1 || user > int64(len(r.fixture.Users)):
		return ""
	}
	return r.fixture.Users[user-1].Token
}

// stopReplicas ends the servers in order, so that their last requests and log lines are whole.
func (r *rig) stopReplicas(ctx context.Context) error {
	errs := make([]error, len(r.replicas))
	var group errgroup.Group
	for i, replica := range r.replicas {
		group.Go(func() error { errs[i] = replica.Stop(ctx); return nil })
	}
	_ = group.Wait()
	return errors.Join(errs...)
}

// close takes everything down, whatever was started, and also when ctx has ended.
func (r *rig) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), teardownWithin)
	defer cancel()
	errs := []error{r.stopReplicas(ctx)}
	for _, p := range r.paths {
		errs = append(errs, p.Proxy.Close())
	}
	if r.provider != nil {
		errs = append(errs, r.provider.Close())
	}
	if r.redis != nil {
		errs = append(errs, r.redis.Kill())
	}
	errs = append(errs, r.stopBouncer())
	if r.store.drop != nil {
		errs = append(errs, r.store.drop(ctx))
	}
	return errors.Join(errs...)
}

func randomToken() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
