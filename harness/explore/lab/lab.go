// Package lab puts the bundled server, or a broken variant of it, under the explorer: a cluster whose own clocks are silenced, a
// server process for each request, each behind two wire proxies, and the cases that they are explored in.
//
// It is to package explore what package harness is to a storm: the one place where the parts of an exploration meet. A
// server of somebody else's needs another lab, not another explorer.
package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/provider"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// Options say what is explored. Exe and Dir are required.
type Options struct {
	Exe     string // binary with the commands serve, migrate, seed, cleanup and erase
	Variant string // "" for the reference
	Dir     string // takes the servers' logs
	BinDir  string // PostgreSQL's binaries; "" looks for them

	Case       string        // one of Cases; default duplicates
	Route      string        // one of Routes; default order
	Requests   int           // default 2, and 1 beside a command
	Shared     bool          // one server process for all requests, instead of one each
	Strategy   string        // claim strategy of the bundled server; "" for the reference's
	Isolation  string        // of the server's transactions; default read committed
	StaleAfter time.Duration // default 30 s; crash points need it short
	Deadline   time.Duration // the server's own for one request; default longer than any schedule
	Quiet      time.Duration // see explore.StageOptions
	Params     bool
}

// WithDefaults fills what is not set.
func (o Options) WithDefaults() Options {
	if o.Case == "" {
		o.Case = Cases[0].Name
	}
	if o.Route == "" {
		o.Route = Routes[0].Name
	}
	c, _ := findCase(o.Case) // Validate refuses an unknown one
	if o.Requests == 0 {
		o.Requests = 2
		if c.beside && !c.threshold {
			o.Requests = 1
		}
	}
	if o.StaleAfter == 0 {
		o.StaleAfter = 30 * time.Second
		if c.threshold {
			o.StaleAfter = shortThreshold
		}
	}
	if o.Deadline == 0 {
		o.Deadline = patience
	}
	return o
}

// Validate says what cannot be explored.
func (o Options) Validate() error {
	o = o.WithDefaults()
	if _, err := findCase(o.Case); err != nil {
		return err
	}
	if _, err := findRoute(o.Route); err != nil {
		return err
	}
	if o.Requests < 1 || o.Requests > 4 {
		return fmt.Errorf("%d requests: between 1 and 4 can be explored", o.Requests)
	}
	if s, _ := contract.FindStrategy(o.Strategy); s.Redis {
		return fmt.Errorf("claim strategy %s cannot be explored: it decides in Redis, where no statement is seen", s.Name)
	}
	return o.spec().Validate()
}

// shortThreshold is waited for in every schedule of a case in which claims go stale; it must outlast what lies between two steps.
const shortThreshold = 400 * time.Millisecond

// Actors is how many act at once. More than two are better explored with a bound.
func (o Options) Actors() int {
	o = o.WithDefaults()
	if c, err := findCase(o.Case); err == nil && c.beside {
		return o.Requests + 1
	}
	return o.Requests
}

// patience is longer than any schedule holds a statement.
const patience = 60 * time.Second

func (o Options) spec() subject.Spec {
	return subject.Spec{StaleAfter: o.StaleAfter, Deadline: o.Deadline, Pool: 8, StorePool: 8, Isolation: o.Isolation, Strategy: o.Strategy}
}

// settings silence what could come between two steps: time-outs and autovacuum. A crash of the machine is not explored, so nothing
// is forced to disk.
var settings = map[string]string{
	"autovacuum": "off", "lock_timeout": "0", "statement_timeout": "0",
	"idle_in_transaction_session_timeout": "0", "max_connections": "100", "checkpoint_timeout": "1d",
}

// Lab is a running system and the stage that it is explored on.
type Lab struct {
	opts       Options
	cluster    *pgcluster.Cluster
	dsn        string
	bundle     subject.Bundled
	fixture    subject.Fixture
	provider   *provider.Provider
	stage      *explore.Stage
	judge      *explore.Judge
	replicas   []*subject.Replica
	clients    []*explore.Client
	proxies    []*pgwire.Proxy
	command    *pgwire.Proxy // the path of commands, such as cleanup
	commandDSN string
	clock      *pgx.Conn // of the actor that lets time pass, behind a gate
	side       *pgx.Conn // makes the rows of a schedule, past every gate
	opening    []evidence.Account
	users      int // next of the fixture's that no schedule has had
}

const database = "explore"

// fixtureUsers are more than an erasure case has schedules within its default bounds.
const fixtureUsers = 2000

// Open starts everything, in the order of need, and warms it up. The caller must Close it.
func Open(ctx context.Context, o Options) (l *Lab, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	l = &Lab{opts: o.WithDefaults()}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close(ctx))
			l = nil
		}
	}()
	if err := l.openDatabase(ctx); err != nil {
		return l, err
	}
	if err := l.startReplicas(ctx); err != nil {
		return l, err
	}
	if err := l.openStage(ctx); err != nil {
		return l, err
	}
	return l, l.warm(ctx)
}

func (l *Lab) openDatabase(ctx context.Context) (err error) {
	if l.cluster, err = pgcluster.Start(ctx, pgcluster.Options{BinDir: l.opts.BinDir, Fast: true, Settings: settings}); err != nil {
		return err
	}
	if err := l.cluster.CreateDatabase(ctx, database); err != nil {
		return err
	}
	l.dsn = l.cluster.DSN(database)
	l.bundle = subject.Bundled{Exe: l.opts.Exe, Variant: l.opts.Variant, Spec: l.opts.spec(), Dir: l.opts.Dir}
	l.fixture, err = l.bundle.Prepare(ctx, l.dsn, subject.Seed{Users: fixtureUsers, Positions: 1, Cash: "1000000000000.00", Value: 1})
	if err != nil {
		return err
	}
	if l.opening, err = evidence.ReadAccounts(ctx, l.dsn, evidence.Bundled()); err != nil {
		return err
	}
	l.provider, err = provider.Start(ctx, provider.Options{Dir: l.opts.Dir})
	return err
}

// processes is how many servers run: one for each request, so that every statement is surely its request's, or one for all. One more
// than the requests takes the retries after a crash.
func (l *Lab) processes() int {
	if l.opts.Shared {
		return 2
	}
	return l.opts.Requests + 1
}

func (l *Lab) startReplicas(ctx context.Context) error {
	for n := 1; n <= l.processes(); n++ {
		paths := subject.Paths{Provider: l.provider.URL()}
		for _, dsn := range []*string{&paths.Database, &paths.Store} {
			var err error
			if _, *dsn, err = l.path(n - 1); err != nil {
				return err
			}
		}
		l.replicas = append(l.replicas, l.bundle.Replica(n, paths))
	}
	group, starting := errgroup.WithContext(ctx)
	for _, replica := range l.replicas {
		group.Go(func() error { return replica.Start(starting) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var err error
	l.command, l.commandDSN, err = l.path(l.opts.Requests)
	return err
}

// path opens one proxy for an actor, from 0, and gives the address that leads through it.
func (l *Lab) path(actor int) (*pgwire.Proxy, string, error) {
	proxy, err := pgwire.Listen(pgwire.Options{Upstream: l.cluster.Addr(), Follow: true, Params: l.opts.Params})
	if err != nil {
		return nil, "", err
	}
	l.proxies = append(l.proxies, proxy)
	dsn, err := pgcluster.Via(l.dsn, proxy.Addr())
	return proxy, dsn + "&" + explore.DeadlockOption(actor), err
}

// openStage comes after the servers: a variant may change the schema when it starts.
func (l *Lab) openStage(ctx context.Context) (err error) {
	l.stage, err = explore.NewStage(ctx, explore.StageOptions{DSN: l.dsn, Quiet: l.opts.Quiet, Params: l.opts.Params})
	if err != nil {
		return err
	}
	for n := range l.replicas {
		owner := n
		if l.opts.Shared {
			owner = explore.Shared
		}
		if n == len(l.replicas)-1 {
			break // the retries' replica is never held
		}
		for _, proxy := range l.proxies[2*n : 2*n+2] {
			if err := proxy.SetController(l.stage.Gate(owner)); err != nil {
				return err
			}
		}
	}
	promise := l.contract()
	l.judge = &explore.Judge{Contract: promise, Queries: evidence.Bundled(), DSN: l.dsn, Route: l.opts.Route}
	for n, replica := range l.replicas {
		l.clients = append(l.clients, explore.NewClient(replica.URL, n+1, promise))
	}
	return l.commandGate(ctx)
}

// commandGate gives the command that a case runs beside its requests a gate of its own.
func (l *Lab) commandGate(ctx context.Context) (err error) {
	if err := l.command.SetController(l.stage.Gate(l.requests())); err != nil {
		return err
	}
	if l.side, err = pgx.Connect(ctx, l.dsn); err != nil {
		return fmt.Errorf("connect past the gates: %w", err)
	}
	if l.clock, err = pgx.Connect(ctx, l.commandDSN); err != nil {
		return fmt.Errorf("connect the clock: %w", err)
	}
	return nil
}

func (l *Lab) contract() contract.Contract { return l.opts.spec().Contract() }

// client is the n-th request's way to its server.
func (l *Lab) client(n int) *explore.Client {
	if l.opts.Shared {
		return l.clients[0]
	}
	return l.clients[n]
}

// patient is the client that settles keys after a crash, by a server of its own.
func (l *Lab) patient() *explore.Client { return l.clients[len(l.clients)-1] }

func (l *Lab) asking(r Route) asking {
	return asking{l.patient(), func(_ explore.Case, a explore.Attempt) explore.Request { return r.as(a) }}
}

// Scenario is the case that the lab was opened for.
func (l *Lab) Scenario() (explore.Scenario, error) { return l.scenario() }

// System puts a scenario on the lab's stage.
func (l *Lab) System(s explore.Scenario) explore.System { return l.stage.System(s) }

// Reducible says whether commuting steps may be swapped on this lab, and if not, why.
func (l *Lab) Reducible() (ok bool, why string) {
	route, err := findRoute(l.opts.Route)
	switch {
	case err != nil:
		return false, err.Error()
	case l.opts.Shared:
		return false, "requests that share a process may meet in its memory"
	case l.opts.Strategy == "redis":
		return false, "requests meet in Redis, which is not seen"
	case l.opts.Strategy == "serializable":
		return false, "a claim's snapshot sees all tables at once"
	case l.opts.Isolation != "" && l.opts.Isolation != "read committed":
		return false, "under " + l.opts.Isolation + " a snapshot sees all tables at once"
	case route.charges:
		return false, "requests may meet at the payment provider"
	}
	return true, ""
}

// Explore searches the lab's case. Of the reductions that are asked for it makes those that are sound here.
func (l *Lab) Explore(ctx context.Context, o explore.Options) (schedule.Result, error) {
	scenario, err := l.scenario()
	if err != nil {
		return schedule.Result{}, err
	}
	allowed, _ := l.Reducible()
	o.Reduce = o.Reduce && allowed
	o.Classes = scenario.Classes()
	result, err := explore.Search(ctx, l.System(scenario), o)
	result.Name, result.Actors = scenario.Name, scenario.Names()
	if err == nil {
		result.Afterwards, err = l.ledger(ctx)
	}
	if s := result.Schedule; s != nil {
		s.Name, s.Actors, s.Setup = scenario.Name, scenario.Names(), l.setup()
	}
	return result, err
}

// Close takes everything down, whatever was started, also when ctx has ended.
func (l *Lab) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	var errs []error
	for _, client := range l.clients {
		client.Close()
	}
	for _, replica := range l.replicas {
		if p := replica.Process(); p != nil {
			errs = append(errs, p.Kill())
		}
	}
	if l.judge != nil {
		errs = append(errs, l.judge.Close(ctx))
	}
	if l.stage != nil {
		errs = append(errs, l.stage.Close(ctx))
	}
	for _, conn := range []*pgx.Conn{l.clock, l.side} {
		if conn != nil {
			errs = append(errs, conn.Close(ctx))
		}
	}
	for _, proxy := range l.proxies {
		errs = append(errs, proxy.Close())
	}
	if l.provider != nil {
		errs = append(errs, l.provider.Close())
	}
	if l.cluster != nil {
		errs = append(errs, l.cluster.Stop())
	}
	return errors.Join(errs...)
}
