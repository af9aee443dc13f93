package idempotency

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"
)

// RedisClaimer decides by SET NX in Redis; only what has ended is a record in the database. A Redis that forgets lets two work on one
// key at once: the record's unique constraint then lets one of them commit.
type RedisClaimer struct {
	*InsertClaimer
	Redis *redis.Client
}

// Claim implements Claimer. The record is looked for under the lock: it may have been written since the lock's last holder let go.
func (c *RedisClaimer) Claim(ctx context.Context, req *Request) (*Claim, error) {
	lock := redisLock{client: c.Redis, name: lockName(req), value: req.Hash + " " + uuid.NewString()}
	taken, err := c.Redis.SetNX(ctx, lock.name, lock.value, c.StaleAfter).Result()
	if err != nil {
		return nil, fmt.Errorf("claim key in Redis: %w", err)
	}
	if !taken {
		return nil, nil
	}
	rec, err := c.InsertClaimer.Read(ctx, req, nil)
	if err != nil || (rec != nil && req.Scope.UserID != nil) {
		lock.release()
		return nil, err
	}
	return &Claim{LockedAt: time.Now(), Completer: redisCompleter{c.Store, req}, Release: lock.release}, nil
}

// Read implements Claimer. What is in flight is in Redis only.
func (c *RedisClaimer) Read(ctx context.Context, req *Request, audit Auditor) (*Record, error) {
	rec, err := c.InsertClaimer.Read(ctx, req, audit)
	if rec != nil || err != nil {
		return rec, err
	}
	value, err := c.Redis.Get(ctx, lockName(req)).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read claim in Redis: %w", err)
	}
	hash, _, _ := strings.Cut(value, " ")
	return &Record{Hash: hash, Status: InFlight}, nil
}

// lockName is key and scope, as the record's unique constraint has them. Service calls conflict with nobody.
func lockName(req *Request) string {
	who := "service " + uuid.NewString()
	if req.Scope.UserID != nil {
		who = fmt.Sprint("user ", *req.Scope.UserID)
	}
	return fmt.Sprintf("idempotency %s %s %s", req.Key, who, req.Scope.Endpoint)
}

// redisLock is one holder's lock.
type redisLock struct {
	client      *redis.Client
	name, value string
}

// releaseScript removes a lock for the one who holds it.
var releaseScript = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// releaseWithin bounds a release; a lock that could not be released expires.
const releaseWithin = 250 * time.Millisecond

func (l redisLock) release() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseWithin)
	defer cancel()
	_ = releaseScript.Run(ctx, l.client, []string{l.name}, l.value).Err()
}

// redisCompleter writes the record when the request has ended.
type redisCompleter struct {
	store DB
	req   *Request
}

const insertEndedSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at, status, response_code, response_body)
VALUES ($1, $2, $3, $4, NOW() + $5::interval, $6, $7, $8)
ON CONFLICT DO NOTHING`

// Complete implements Completer. A record that is there already is another's, who was first.
func (c redisCompleter) Complete(b *pgx.Batch, _ *Claim, req *Request, resp *Response) {
	b.Queue(insertEndedSQL, c.args(Completed, resp, StoredBody(req, resp))...).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return ErrFenced
		}
		return nil
	})
}

// Fail implements Completer.
func (c redisCompleter) Fail(ctx context.Context, _ *Claim, resp *Response) error {
	if _, err := c.store.Exec(ctx, insertEndedSQL, c.args(Failed, resp, nil)...); err != nil {
		return fmt.Errorf("store failure of key: %w", err)
	}
	return nil
}

func (c redisCompleter) args(status Status, resp *Response, body any) []any {
	r := c.req
	return []any{r.Key, r.Scope.UserID, r.Scope.Endpoint, r.Hash, r.Route.TTL, status, resp.Status, body}
}
