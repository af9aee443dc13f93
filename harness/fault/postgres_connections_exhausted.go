package fault

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"
)

// postgresConnectionsExhausted is the database server after somebody else's deployment has opened too many sessions. The servers'
// own sessions are ended, else they would live on and feel nothing. Superusers have their reserved slots: those are taken as well.
var postgresConnectionsExhausted = Kind{
	Name:  "postgres-connections-exhausted",
	Story: "every connection slot of the database server is taken by others: sessions are cut, and new ones refused (SQLSTATE 53300)",
	Sees:  "503 at once",
	Holds: "tier 1 executes nothing; the pools fill again when there is room",
	Total: true,
	On:    onlyPostgres,
	Check: checkWhole,
	Strike: func(s Spec, w World) (Strike, error) {
		c := &crowd{}
		return changing(tooManyConnections, c.come, c.leave)(s, w)
	},
}

const (
	tooManyConnections = "53300"
	crowdName          = "idemstorm-crowd"

	slotsSQL  = `SELECT current_setting('max_connections')::int`
	crowdSQL  = `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`
	othersSQL = `
		SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND application_name <> $1 AND pid <> pg_backend_pid()`
)

// dialers is how many of the crowd come at once: enough to win slots from who comes back by and by.
const dialers = 8

// crowd is the sessions that take the slots.
type crowd struct {
	mu       sync.Mutex
	sessions []*pgconn.PgConn
}

// come takes slots and ends others' sessions until every slot is the crowd's, but the administrator's.
func (c *crowd) come(ctx context.Context, s *insidePostgres) error {
	config, err := pgconn.ParseConfig(s.cluster.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("take the connection slots: %w", err)
	}
	config.RuntimeParams["application_name"] = crowdName
	var slots int
	if err := s.admin.QueryRow(ctx, slotsSQL).Scan(&slots); err != nil {
		return fmt.Errorf("count the connection slots: %w", err)
	}
	return until(ctx, func(ctx context.Context) (bool, error) { return c.push(ctx, s.admin, config, slots-1) })
}

// push takes what is free, and makes room when that is not all that is wanted.
func (c *crowd) push(ctx context.Context, admin *pgx.Conn, config *pgconn.Config, want int) (all bool, err error) {
	if err := c.take(ctx, config, want); err != nil {
		return false, fmt.Errorf("take the connection slots: %w", err)
	}
	if len(c.sessions) == want {
		return true, nil
	}
	if _, err := admin.Exec(ctx, othersSQL, crowdName); err != nil {
		return false, fmt.Errorf("end the sessions of others: %w", err)
	}
	return false, nil
}

// take opens sessions until there are want of them or one is refused.
func (c *crowd) take(ctx context.Context, config *pgconn.Config, want int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(dialers)
	var full atomic.Bool
	for range want - len(c.sessions) {
		group.Go(func() error {
			if full.Load() {
				return nil
			}
			conn, err := pgconn.ConnectConfig(ctx, config)
			if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == tooManyConnections {
				full.Store(true)
				return nil
			}
			if err == nil {
				c.add(conn)
			}
			return err
		})
	}
	return group.Wait()
}

func (c *crowd) add(conn *pgconn.PgConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions = append(c.sessions, conn)
}

// leave returns when the slots are free again.
func (c *crowd) leave(ctx context.Context, s *insidePostgres) error {
	for _, conn := range c.sessions {
		_ = conn.Close(ctx) // a session that was ended meanwhile has left
	}
	if err := s.again(ctx); err != nil {
		return err
	}
	return until(ctx, func(ctx context.Context) (bool, error) { return c.gone(ctx, s.admin) })
}

func (c *crowd) gone(ctx context.Context, admin *pgx.Conn) (bool, error) {
	var left int
	if err := admin.QueryRow(ctx, crowdSQL, crowdName).Scan(&left); err != nil {
		return false, fmt.Errorf("look whether the slots are free: %w", err)
	}
	return left == 0, nil
}
