// Package pgcluster starts throwaway PostgreSQL clusters and does to them what
// faults need: stop, kill, pause, restart. It also carves a database of its own
// out of a server that the user names.
//
// A cluster listens on a free loopback port and a private socket, keeps
// everything in one temporary folder, and leaves neither process nor file
// behind, even when the program that started it is killed. Run as root it drops
// to another user, since PostgreSQL refuses to run as root. The package works
// on Unix systems only.
package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// Superuser is the role that initialises a cluster and that DSN names.
const Superuser = "idemstorm"

const (
	// startLimit bounds a start whose context has no deadline.
	startLimit = 60 * time.Second
	// stopLimit bounds an orderly shutdown before SIGKILL takes over.
	stopLimit = 10 * time.Second
	// portAttempts bounds the race for a port between choosing and binding it.
	portAttempts = 5
)

// ErrStopped is returned by operations on a cluster after Stop.
var ErrStopped = errors.New("the cluster has been stopped and removed")

// ErrNotRunning is returned by operations that need a live postmaster.
var ErrNotRunning = errors.New("postgres is not running")

// Options says how a cluster is to be started. The zero value finds local
// server binaries, keeps its files below the system's temporary folder and is
// as durable as PostgreSQL's defaults.
type Options struct {
	BinDir   string            // folder of postgres and initdb; empty: FindBinaries, then Download
	Dir      string            // where the cluster's folder is created; empty: the temporary folder
	User     string            // account to drop to when run as root; empty: postgres, then nobody
	Fast     bool              // fsync off: survives Kill, but not a crash of the machine
	Settings map[string]string // postgresql.conf settings, over the package's own
	Log      io.Writer         // receives the server's log; nil: only its tail is kept, for errors
	Download Download          // where to fetch binaries when there are none on this machine

	SmallDisk int64 // bytes of a disk in memory that databases lie on, for FillDisk; 0: none
}

// Cluster is one throwaway PostgreSQL cluster. Its methods may be called from
// several goroutines; they take effect one at a time.
type Cluster struct {
	binDir   string
	settings map[string]string
	account  *account
	folder   *folder
	guard    *guardian
	log      *tail
	errors   *errorLog
	disk     *smallDisk // nil without Options.SmallDisk
	password string
	port     int
	version  string

	mu      sync.Mutex
	server  *postmaster
	paused  []int // the processes that Pause stopped
	stopped bool
}

// Start initialises a cluster and returns when it accepts connections. A
// context without a deadline is bounded at one minute (a download apart). On failure nothing is
// left behind, and the error carries the end of the server's log.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	binDir, err := binaries(ctx, options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	owner, err := dropTo(options.User)
	if err != nil {
		return nil, err
	}
	dir, err := newFolder(options.Dir, owner)
	if err != nil {
		return nil, err
	}
	counted := newErrorLog(options.Log)
	c := &Cluster{
		binDir: binDir, account: owner, folder: dir,
		settings: effectiveSettings(options), log: newTail(counted), errors: counted,
	}
	if err := c.start(ctx, options.SmallDisk); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, smallDisk int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.guard, err = watch(c.folder.path); err != nil {
		return err
	}
	if err := c.initialise(ctx); err != nil {
		return err
	}
	if smallDisk == 0 {
		return c.firstRun(ctx)
	}
	if c.disk, err = newSmallDisk(c.folder, smallDisk, c.account); err != nil {
		return err
	}
	if err := c.firstRun(ctx); err != nil {
		return err
	}
	return c.useSmallDisk(ctx)
}

// firstRun finds the cluster's port.
func (c *Cluster) firstRun(ctx context.Context) (err error) {
	for range portAttempts {
		if c.port, err = loopback.FreePort(); err != nil {
			return err
		}
		if err = c.run(ctx); err == nil || !c.log.portTaken() {
			return err
		}
	}
	return err
}

// run launches the postmaster on the cluster's port and waits for it to answer.
func (c *Cluster) run(ctx context.Context) error {
	c.log.reset()
	server, err := c.launch(c.command(c.serverArguments()...))
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	c.server = server
	c.guard.started(server.pid)
	if err := c.awaitReady(ctx); err != nil {
		c.kill()
		return fmt.Errorf("start postgres on port %d: %w%s", c.port, err, c.log.quoted())
	}
	return nil
}

// Restart starts the server again on the same port after Kill or Halt, and
// returns when it accepts connections, crash recovery included.
func (c *Cluster) Restart(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if c.running() {
		return errors.New("restart postgres: it is still running")
	}
	return c.run(ctx)
}

// Halt shuts the server down in good order (a fast shutdown: sessions are cut,
// data is written) and keeps its data for Restart.
func (c *Cluster) Halt(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if !c.running() {
		return ErrNotRunning
	}
	c.resume()
	if err := c.server.interrupt(ctx); err != nil {
		return fmt.Errorf("halt postgres: %w", err)
	}
	c.guard.ended()
	return nil
}

// Kill sends SIGKILL to the postmaster and every process of the cluster, and
// returns when the postmaster is gone. The data stays, for Restart.
func (c *Cluster) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return ErrNotRunning
	}
	return c.kill()
}

// Pause stops (SIGSTOP) every process of the cluster and returns when none of
// them runs any more. Connections stay open and get no answer until Resume.
func (c *Cluster) Pause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return ErrNotRunning
	}
	frozen, err := c.server.freeze()
	c.paused = frozen
	c.guard.paused(frozen)
	if err != nil {
		c.resume()
		return fmt.Errorf("pause postgres: %w", err)
	}
	return nil
}

// Resume undoes Pause. Without a Pause before it, it does nothing.
func (c *Cluster) Resume() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return ErrNotRunning
	}
	c.resume()
	return nil
}

// Stop ends the cluster and removes all its files. It may be called again, and
// after Kill. The data is thrown away, so no shutdown checkpoint is waited for.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	var ending error
	if c.running() {
		ending = c.quit()
	}
	c.guard.dismiss()
	c.disk.remove()
	return errors.Join(ending, c.folder.remove())
}

// PID is the postmaster's process id, or 0 while it is not running.
func (c *Cluster) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running() {
		return 0
	}
	return c.server.pid
}

// Addr is where the server listens, as host:port. It stays the same over Restart.
func (c *Cluster) Addr() string {
	return loopback.Addr(c.port)
}

// Version is the server's version as it reports it, such as "15.18".
func (c *Cluster) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.version
}

// BinDir is the folder whose postgres runs the cluster; pgbench and psql are
// usually beside it.
func (c *Cluster) BinDir() string { return c.binDir }

// Folder is the temporary folder that holds all of the cluster's files.
func (c *Cluster) Folder() string { return c.folder.path }

func (c *Cluster) running() bool {
	return c.server != nil && c.server.alive()
}

func (c *Cluster) kill() error {
	err := c.server.kill()
	c.paused = nil
	c.guard.ended()
	return err
}

func (c *Cluster) resume() {
	thaw(c.paused)
	c.paused = nil
	c.guard.resumed()
}

// quit asks for an immediate shutdown and falls back on SIGKILL.
func (c *Cluster) quit() error {
	c.server.signalQuit()
	c.resume() // a stopped process would not see the signal
	if c.server.awaitExit(stopLimit) {
		c.guard.ended()
		return nil
	}
	return c.kill()
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, startLimit)
}
