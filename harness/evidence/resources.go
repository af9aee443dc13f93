package evidence

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Resources is what the servers held at one moment.
type Resources struct {
	At       time.Time        `json:"at"`
	Replicas []Held           `json:"replicas"`           // in order
	Sessions map[string]int64 `json:"sessions,omitempty"` // in the database, by application_name; nil when it could not be asked
}

// Held is what one server process held, by its own metrics. A figure that it does not publish is -1, a pool absent.
type Held struct {
	Goroutines  int64           `json:"goroutines"`
	Descriptors int64           `json:"descriptors"` // open files and sockets
	Memory      int64           `json:"memory"`      // resident, in bytes
	Pools       map[string]Pool `json:"pools,omitempty"`
	Redis       Pool            `json:"redis,omitzero"` // connections to a store that has no database sessions
}

// Pool is one pool of database connections.
type Pool struct {
	Open     int64 `json:"open"`            // connections open or being opened
	Acquired int64 `json:"acquired"`        // of them in use
	Limit    int64 `json:"limit,omitempty"` // how many it may have; 0 when it does not say
}

// Pooled is how many connections the servers' pools account for that go by an application_name: it ends with the pool's name.
func (r *Resources) Pooled(application string) (n int64) {
	for _, held := range r.Replicas {
		for name, pool := range held.Pools {
			if strings.HasSuffix(application, "-"+name) {
				n += pool.Open
			}
		}
	}
	return n
}

// Connected says whether the database has a session for every connection of the pools: none is still being opened.
func (r *Resources) Connected() bool {
	open, sessions := int64(0), int64(0)
	for _, held := range r.Replicas {
		for _, pool := range held.Pools {
			open += pool.Open
		}
	}
	for _, n := range r.Sessions {
		sessions += n
	}
	return sessions >= open
}

// The metrics that a server may publish: the names of Prometheus's own collectors, and those of the bundled server's pools, with the
// label "pool".
const (
	metricGoroutines  = "go_goroutines"
	metricDescriptors = "process_open_fds"
	metricMemory      = "process_resident_memory_bytes"
	metricOpen        = "db_pool_connections"
	metricAcquired    = "db_pool_acquired"
	metricLimit       = "db_pool_limit"
	metricRedisOpen   = "redis_pool_connections"
	metricRedisLimit  = "redis_pool_limit"
)

// sessionCounts leaves out connections without a name: they are not the servers'.
const sessionCounts = `
SELECT application_name, count(*)
FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> ''
GROUP BY application_name`

// ReadResources asks every replica for its metrics, and the database at dsn for its sessions. A replica that does not answer is an
// error; a database that does not is none.
func ReadResources(ctx context.Context, urls []string, dsn string) (Resources, error) {
	r := Resources{At: time.Now()}
	for _, address := range urls {
		held, err := ReadHeld(ctx, address)
		if err != nil {
			return r, err
		}
		r.Replicas = append(r.Replicas, held)
	}
	sessions, err := readSessions(ctx, dsn)
	if err == nil {
		r.Sessions = sessions
	}
	return r, nil
}

// ReadHeld asks one server. A URL without a path means its /metrics.
func ReadHeld(ctx context.Context, address string) (Held, error) {
	h := Held{Goroutines: -1, Descriptors: -1, Memory: -1, Pools: map[string]Pool{}}
	url, err := metricsPage(address)
	if err != nil {
		return h, fmt.Errorf("scrape resources: %w", err)
	}
	page, err := fetch(ctx, url)
	if err != nil {
		return h, fmt.Errorf("scrape resources: %w", err)
	}
	if err := eachSample(bytes.NewReader(page), "", h.add); err != nil {
		return h, fmt.Errorf("scrape resources of %s: %w", url, err)
	}
	return h, nil
}

func (h *Held) add(s sample) {
	n, name := int64(s.value), s.labels["pool"]
	pool := h.Pools[name]
	switch s.name {
	case metricGoroutines:
		h.Goroutines = n
	case metricDescriptors:
		h.Descriptors = n
	case metricMemory:
		h.Memory = n
	case metricOpen:
		pool.Open = n
	case metricAcquired:
		pool.Acquired = n
	case metricLimit:
		pool.Limit = n
	case metricRedisOpen:
		h.Redis.Open = n
	case metricRedisLimit:
		h.Redis.Limit = n
	}
	if name != "" {
		h.Pools[name] = pool
	}
}

func readSessions(ctx context.Context, dsn string) (map[string]int64, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	rows, err := conn.Query(ctx, sessionCounts)
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	counts, name, n := map[string]int64{}, "", int64(0)
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error { counts[name] = n; return nil })
	return counts, err
}
