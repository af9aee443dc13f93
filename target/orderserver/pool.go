package orderserver

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// poolSpec says how one pool differs from the other.
type poolSpec struct {
	name, url, isolation string
	size                 int
	connectTimeout       time.Duration
	deadline             time.Duration // of a request
}

// openPool makes a pool without connecting: the server starts, and recovers, whatever the database does meanwhile.
func openPool(spec poolSpec) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(spec.url)
	if err != nil {
		return nil, fmt.Errorf("read the %s database's address: %w", spec.name, err)
	}
	cfg.MaxConns = int32(spec.size)
	cfg.MinConns = cfg.MaxConns / 2 // opened at the start, in the background: the first burst finds connections
	cfg.ConnConfig.ConnectTimeout = spec.connectTimeout
	params := cfg.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "idemstorm-" + spec.name
	}
	if spec.isolation != "" {
		params["default_transaction_isolation"] = spec.isolation
	}
	boundCleanup(cfg, spec.connectTimeout)
	lookBeforeUse(cfg)
	boundWait(cfg, spec.deadline)
	pool, err := pgxpool.NewWithConfig(context.Background(), cfg)
	if err != nil {
		return nil, fmt.Errorf("open the %s pool: %w", spec.name, err)
	}
	return pool, nil
}

// boundCleanup keeps a connection that hangs from holding its place in the pool: pgx grants its goodbye, cancel
// request included, 15 seconds, in which a pool of hung connections serves nobody although the database is back.
// Every connection is born with a deadline, lifted once it is usable, so that cancel requests keep theirs.
func boundCleanup(cfg *pgxpool.Config, limit time.Duration) {
	dialer := net.Dialer{Timeout: limit, KeepAlive: 15 * time.Second}
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err // pgx says what was dialled
		}
		return &boundedConn{Conn: conn, limit: limit}, conn.SetDeadline(time.Now().Add(limit))
	}
	cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		return conn.PgConn().Conn().SetDeadline(time.Time{})
	}
}

// boundedConn shortens deadlines that lie too far ahead.
type boundedConn struct {
	net.Conn
	limit time.Duration
}

// SetDeadline implements net.Conn.
func (c *boundedConn) SetDeadline(t time.Time) error {
	if latest := time.Now().Add(c.limit); t.After(latest) {
		t = latest
	}
	return c.Conn.SetDeadline(t)
}

// lookBeforeUse passes over connections that the database has closed. It peeks at the socket instead of sending a ping,
// which would cost a round trip, and add a statement now and then to what a statement-level observer sees.
func lookBeforeUse(cfg *pgxpool.Config) {
	cfg.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	cfg.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		return quiet(conn.PgConn().Conn()), nil
	}
}

// quiet reports whether nothing waits to be read: an idle PostgreSQL connection only speaks to say goodbye.
func quiet(conn net.Conn) bool {
	for {
		inner, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = inner.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	var peekErr error
	// Control, not Read: pgx may have left a reader on the socket, which holds the lock that Read would wait for.
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, peekErr = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err == nil && (peekErr == syscall.EAGAIN || peekErr == syscall.EWOULDBLOCK)
}

// NetConn gives the socket underneath, as tls.Conn does.
func (c *boundedConn) NetConn() net.Conn { return c.Conn }
