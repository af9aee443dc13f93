package orderserver

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"
)

// healthy says that the process serves.
func (s *Server) healthy(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// ready says that both paths to the database answer.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.RequestDeadline)
	defer cancel()
	status, state := http.StatusOK, map[string]string{}
	for name, pool := range map[string]*pgxpool.Pool{"orders": s.business, "store": s.store} {
		state[name] = "ok"
		if _, err := pool.Exec(ctx, "SELECT 1"); err != nil {
			state[name], status = "unreachable", http.StatusServiceUnavailable
		}
	}
	writeJSON(w, status, state)
}

// newRegistry holds the process's own collectors and the pools'; nothing global.
func (s *Server) newRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registerPool(reg, "orders", s.business)
	registerPool(reg, "store", s.store)
	if s.redis != nil {
		registerRedis(reg, s.redis)
	}
	return reg
}

func registerRedis(reg *prometheus.Registry, client *redis.Client) {
	open := prometheus.GaugeOpts{Name: "redis_pool_connections", Help: "Connections to Redis open or being opened."}
	limit := prometheus.GaugeOpts{Name: "redis_pool_limit", Help: "Connections to Redis at most."}
	reg.MustRegister(
		prometheus.NewGaugeFunc(open, func() float64 { return float64(client.PoolStats().TotalConns) }),
		prometheus.NewGaugeFunc(limit, func() float64 { return float64(client.Options().PoolSize) }))
}

// registerPool reads the pool when it is asked, not before: there is nothing to keep up to date.
func registerPool(reg *prometheus.Registry, name string, pool *pgxpool.Pool) {
	for _, g := range []struct {
		name, help string
		value      func(*pgxpool.Stat) float64
	}{
		{"db_pool_connections", "Connections open or being opened.", func(s *pgxpool.Stat) float64 { return float64(s.TotalConns()) }},
		{"db_pool_limit", "Connections at most.", func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) }},
		{"db_pool_acquired", "Connections in use.", func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) }},
		{"db_pool_waits", "Acquisitions that had to wait.", func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) }},
		{"db_pool_wait_seconds", "Time that acquisitions waited.", func(s *pgxpool.Stat) float64 { return s.EmptyAcquireWaitTime().Seconds() }},
	} {
		opts := prometheus.GaugeOpts{Name: g.name, Help: g.help, ConstLabels: prometheus.Labels{"pool": name}}
		reg.MustRegister(prometheus.NewGaugeFunc(opts, func() float64 { return g.value(pool.Stat()) }))
	}
}
