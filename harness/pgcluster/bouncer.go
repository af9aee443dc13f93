package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// ErrNoBouncer says that there is no pgbouncer on this machine.
var ErrNoBouncer = errors.New("pgbouncer is not installed (Debian: apt-get install pgbouncer)")

// BouncerOptions say how a PgBouncer is to be started.
type BouncerOptions struct {
	Database string    // of the cluster
	Clients  int       // connections of clients at most
	Sessions int       // of the database; transactions share them
	Log      io.Writer // takes its output; nil: only its tail is kept, for errors
}

// Bouncer is a PgBouncer in transaction mode before one database of a cluster: a child, of the same account as the server, with its files in the
// cluster's folder. Its address stays the same over Kill and Start.
type Bouncer struct {
	cluster *Cluster
	options BouncerOptions
	binary  string
	port    int
	config  string
	version string

	mu   sync.Mutex
	proc *postmaster
}

// bouncerConfig: a broken database is tried again soon, where the defaults wait for seconds after it is back; waits end before a
// client's patience does. Version 1.18, Debian 12's, knows no max_prepared_statements: see DSN.
const bouncerConfig = `[databases]
%[1]s = host=%[2]s port=%[3]d dbname=%[1]s user=%[4]s
[pgbouncer]
listen_addr = %[2]s
listen_port = %[5]d
unix_socket_dir =
auth_type = md5
auth_file = %[6]s
pool_mode = transaction
default_pool_size = %[7]d
max_client_conn = %[8]d
server_login_retry = 0.1
server_connect_timeout = 1
query_wait_timeout = 10
log_connections = 0
log_disconnections = 0
`

// StartBouncer starts a PgBouncer and returns when a statement comes through it.
func (c *Cluster) StartBouncer(ctx context.Context, options BouncerOptions) (b *Bouncer, err error) {
	b = &Bouncer{cluster: c, options: options}
	if b.binary, err = findBouncer(); err != nil {
		return nil, err
	}
	if b.version, err = bouncerVersion(b.binary); err != nil {
		return nil, err
	}
	for range portAttempts {
		if err = b.prepare(); err != nil {
			return nil, err
		}
		if err = b.Start(ctx); err == nil {
			return b, nil
		}
		if !errors.Is(err, errPortTaken) {
			return nil, err
		}
	}
	return nil, err
}

// findBouncer looks where Debian has it too: sbin is on few users' PATH.
func findBouncer() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBouncer
}

func bouncerVersion(binary string) (string, error) {
	out, err := exec.Command(binary, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(strings.TrimPrefix(line, "PgBouncer")), nil
}

// prepare writes its files for a new port.
func (b *Bouncer) prepare() (err error) {
	if b.port, err = loopback.FreePort(); err != nil {
		return fmt.Errorf("find a port for pgbouncer: %w", err)
	}
	c, o := b.cluster, b.options
	base := filepath.Join(c.folder.path, fmt.Sprintf("pgbouncer-%d", b.port))
	b.config = base + ".ini"
	users := base + ".users"
	if err := c.account.writeFile(users, fmt.Sprintf("%q %q\n", Superuser, c.password)); err != nil {
		return err
	}
	return c.account.writeFile(b.config, fmt.Sprintf(bouncerConfig,
		o.Database, loopback.Host, c.port, Superuser, b.port, users, o.Sessions, o.Clients))
}

// Addr is where it listens, as host:port.
func (b *Bouncer) Addr() string { return loopback.Addr(b.port) }

// DSN leads through it to the database. In transaction mode the next statement may run on another session of the database, which does not
// know what was prepared by name on this one; so pgx is told to keep the descriptions of statements, and to send each as an unnamed one,
// parsed anew. That needs no PgBouncer newer than 1.18; exec would need none either, but sends parameters as text of guessed types.
func (b *Bouncer) DSN() string {
	dsn := strings.Replace(b.cluster.DSN(b.options.Database), b.cluster.Addr(), b.Addr(), 1)
	return dsn + "&default_query_exec_mode=cache_describe"
}

// Describe says what stands before the database, for people.
func (b *Bouncer) Describe() string {
	return fmt.Sprintf("%s, transaction mode, %d sessions for at most %d clients", b.version, b.options.Sessions, b.options.Clients)
}

const (
	// bouncerLimit bounds one start.
	bouncerLimit = 20 * time.Second
	// bouncerPing bounds one look whether it is ready.
	bouncerPing = 2 * time.Second
)

var errPortTaken = errors.New("its port was taken")

// Start launches it, again after Kill, and returns when a statement comes through.
func (b *Bouncer) Start(ctx context.Context) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	log := newTail(b.options.Log)
	cmd := b.cluster.command(b.binary, b.config)
	cmd.Stdout, cmd.Stderr = log, log
	if b.proc, err = launch(cmd); err != nil {
		return fmt.Errorf("start pgbouncer: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, bouncerLimit)
	defer cancel()
	if err := b.awaitReady(ctx); err != nil {
		if strings.Contains(log.quoted(), "already in use") {
			err = errPortTaken
		}
		return errors.Join(fmt.Errorf("start pgbouncer on port %d: %w%s", b.port, err, log.quoted()), b.proc.kill())
	}
	return nil
}

// awaitReady asks until a statement comes through, the process has ended, or ctx ends.
func (b *Bouncer) awaitReady(ctx context.Context) error {
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		err := b.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-b.proc.exited:
			return fmt.Errorf("it ended before it answered: %w", b.proc.exitError())
		case <-ctx.Done():
			return fmt.Errorf("%w; last attempt to connect: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

func (b *Bouncer) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bouncerPing)
	defer cancel()
	conn, err := pgx.Connect(ctx, b.DSN())
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(ctx), conn.Close(ctx))
}

// Kill ends it at once (SIGKILL). Once it has ended it does nothing.
func (b *Bouncer) Kill() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.proc.alive() {
		return nil
	}
	return b.proc.kill()
}

// PID is its process id, also of one that has ended.
func (b *Bouncer) PID() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proc.pid
}
