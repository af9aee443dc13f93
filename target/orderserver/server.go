package orderserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// shutdownGrace is added to a request's longest time when the server stops.
const shutdownGrace = time.Second

// Server is one replica. Make it by New, and Close it.
type Server struct {
	cfg             Config
	business, store *pgxpool.Pool
	redis           *redis.Client // nil where no strategy needs it
	flags           *flags
	clock           *skewedClock
	provider        *providerClient
	metrics         http.Handler
	parts           idempotency.Parts
	handler         http.Handler
}

// idleRedis is how many connections to Redis are kept when a storm is over. No pool of the database's accounts for them.
const idleRedis = 8

// New puts a replica together. It does not need the database to be there, unless cfg.Prepare does.
func New(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, flags: newFlags(cfg), clock: &skewedClock{}}
	s.clock.offset.Store(int64(cfg.ClockOffset))
	s.provider = &providerClient{base: cfg.ProviderURL, http: &http.Client{Transport: &http.Transport{}}, log: cfg.Log}
	if cfg.RedisAddr != "" {
		s.redis = redis.NewClient(&redis.Options{
			Addr: cfg.RedisAddr, ContextTimeoutEnabled: true, DisableIdentity: true, MaxIdleConns: idleRedis,
		})
	}
	if err := s.openPools(); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.assemble(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

const (
	prepareWithin = 15 * time.Second // a start waits so long for a database that is busy
	prepareEvery  = 50 * time.Millisecond
)

// prepare brings the schema to what the variant wants. A database that cannot be reached yet is waited for.
func (s *Server) prepare(ctx context.Context) error {
	if s.cfg.Prepare == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, prepareWithin)
	defer cancel()
	tick := time.NewTicker(prepareEvery)
	defer tick.Stop()
	for {
		err := s.cfg.Prepare(ctx, s.business)
		var unreached *pgconn.ConnectError
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &unreached), ctx.Err() != nil:
			return fmt.Errorf("prepare variant: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// openPools makes two pools even on one database: claims must not wait for connections that slow handlers hold.
func (s *Server) openPools() (err error) {
	s.business, err = openPool(poolSpec{"orders", s.cfg.DatabaseURL, s.cfg.Isolation, s.cfg.PoolSize, s.cfg.ConnectTimeout, s.cfg.RequestDeadline})
	if err != nil {
		return err
	}
	s.store, err = openPool(poolSpec{"store", s.cfg.StoreURL, s.cfg.Isolation, s.cfg.StorePoolSize, s.cfg.ConnectTimeout, s.cfg.RequestDeadline})
	return err
}

// assemble puts the variant's parts, if any, over the reference's.
func (s *Server) assemble() error {
	s.parts = idempotency.Reference(s.business, s.store, s.cfg.StaleAfter)
	s.parts.Gate, s.parts.Clock = orderGate{s.flags}, s.clock
	if s.cfg.Strategy.New != nil {
		s.parts.Claimer = s.cfg.Strategy.New(idempotency.Stores{Pool: s.store, Redis: s.redis, StaleAfter: s.cfg.StaleAfter})
	}
	if s.cfg.Parts != nil {
		s.parts = s.cfg.Parts(s.parts)
	}
	reg := s.newRegistry()
	s.metrics = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	mw, err := idempotency.New(s.parts, idempotency.Options{
		Identify:        s.identify,
		Enabled:         s.flags.middleware.Load,
		RequestDeadline: s.cfg.RequestDeadline,
		ActionAllowance: s.cfg.HandlerDelay,
		Metrics:         idempotency.NewMetrics(reg),
		Log:             s.cfg.Log,
	})
	if err != nil {
		return err
	}
	s.handler = s.mux(mw)
	return nil
}

// Handler is the whole API.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve answers on ln until ctx ends, then finishes the requests in flight within the longest time one may take.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{Handler: s.handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
	background, stop := context.WithCancel(ctx)
	var jobs sync.WaitGroup
	jobs.Go(func() { s.sweep(background) })
	defer jobs.Wait()
	defer stop()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.RequestDeadline+s.cfg.HandlerDelay+shutdownGrace)
	defer cancel()
	err := srv.Shutdown(grace)
	if served := <-served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("shut down: %w", errors.Join(err, srv.Close()))
	}
	return nil
}

// Close gives the connections back.
func (s *Server) Close() {
	for _, pool := range []*pgxpool.Pool{s.business, s.store} {
		if pool != nil {
			pool.Close()
		}
	}
	if s.redis != nil {
		_ = s.redis.Close() // every request has ended
	}
	s.provider.http.CloseIdleConnections()
}
