package orderserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Config is all that makes one replica differ from another. Zero values mean the default; DatabaseURL is required.
type Config struct {
	// DatabaseURL carries the handlers' transactions, StoreURL the claims; "" means the same database.
	DatabaseURL, StoreURL string
	// PoolSize and StorePoolSize are connections at most; 12 and 6 by default.
	PoolSize, StorePoolSize int
	// Isolation is the default of all transactions: "read committed", "repeatable read" or "serializable".
	Isolation string

	// StaleAfter and RequestDeadline are the contract's 30 s and 2 s by default.
	StaleAfter, RequestDeadline time.Duration
	// ConnectTimeout bounds one attempt to connect to a database, 1 s by default: so soon after an outage that hung a pool has its places back.
	ConnectTimeout time.Duration
	// HandlerDelay is slept in every keyed route's action, before its transaction; it does not count towards the deadline.
	HandlerDelay time.Duration
	// TTL overrides the life of records by endpoint.
	TTL map[string]time.Duration
	// CleanupEvery sweeps expired records in an interval, besides nightly; 0 means nightly only.
	CleanupEvery time.Duration

	// ClockOffset makes the server's own clock wrong, for tests; the admin route changes it.
	ClockOffset time.Duration

	// MiddlewareOff and OrdersDisabled are what the flags start from.
	MiddlewareOff, OrdersDisabled bool
	// AdminToken opens the admin route; without it there is none.
	AdminToken string
	// ProviderURL is the payment provider's base URL.
	ProviderURL string

	// Strategy decides who executes; the zero value is the reference's. RedisAddr is for the strategy that needs one.
	Strategy  idempotency.Strategy
	RedisAddr string

	// Parts may replace parts of the reference. Prepare runs once before the server serves. Both are for variants.
	Parts   func(idempotency.Parts) idempotency.Parts
	Prepare func(context.Context, *pgxpool.Pool) error
	// Log may be nil.
	Log *slog.Logger
}

// isolationLevels are what PostgreSQL tells apart.
var isolationLevels = []string{"", "read committed", "repeatable read", "serializable"}

// withDefaults is the one place where a configuration is checked.
func (c Config) withDefaults() (Config, error) {
	if c.DatabaseURL == "" {
		return c, errors.New("no database: set DATABASE_URL or --dsn")
	}
	if !slices.Contains(isolationLevels, c.Isolation) {
		return c, fmt.Errorf("isolation level %q is none of %q", c.Isolation, isolationLevels[1:])
	}
	if c.Strategy.Redis && c.RedisAddr == "" {
		return c, fmt.Errorf("claim strategy %s needs a Redis: set IDEMSTORM_REDIS_ADDR to its host:port", c.Strategy.Name)
	}
	c.StoreURL = cmp.Or(c.StoreURL, c.DatabaseURL)
	c.PoolSize = cmp.Or(c.PoolSize, 12)
	c.StorePoolSize = cmp.Or(c.StorePoolSize, 6)
	c.StaleAfter = cmp.Or(c.StaleAfter, idempotency.DefaultStaleAfter)
	c.RequestDeadline = cmp.Or(c.RequestDeadline, idempotency.DefaultRequestDeadline)
	c.ConnectTimeout = min(cmp.Or(c.ConnectTimeout, time.Second), c.RequestDeadline)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
