package zoo

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// RedisAddressVariable is the environment variable that tells the variants that need a Redis its host and port.
const RedisAddressVariable = "IDEMSTORM_REDIS_ADDR"

var redisClaimNotDurable = Variant{
	Name:  "redis-claim-not-durable",
	Class: "claims in a store that forgets",
	Story: "SET NX in Redis decides who executes: one round trip, shared by all replicas, and it expires by itself. The Redis " +
		"is set up as a cache, without persistence; when it restarts, every key is new again.",
	Seen:      "dataelement/Clawith#934: deduplication by SET NX alone fails when Redis restarts",
	Invariant: "at-most-once",
	Scenario:  "redis-restart",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = leaseClaimer{reference(p), redisLeases{newRedis()}}
		return p
	},
	Prepare: reachRedis,
}

func newRedis() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: os.Getenv(RedisAddressVariable), ContextTimeoutEnabled: true, DisableIdentity: true})
}

// reachRedis says at the start what a request could only answer by 503.
func reachRedis(ctx context.Context, _ *pgxpool.Pool) error {
	client := newRedis()
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("reach the Redis at %s=%q: %w", RedisAddressVariable, client.Options().Addr, err)
	}
	return nil
}

type redisLeases struct{ client *redis.Client }

func (r redisLeases) take(ctx context.Context, name string, hold time.Duration) (bool, error) {
	taken, err := r.client.SetNX(ctx, name, "taken", hold).Result()
	if err != nil {
		return false, fmt.Errorf("take lease in Redis: %w", err)
	}
	return taken, nil
}

func (r redisLeases) keep(ctx context.Context, name string, hold time.Duration) error {
	return r.client.PExpire(ctx, name, hold).Err()
}
