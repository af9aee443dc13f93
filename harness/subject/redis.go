package subject

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// Redis is a redis-server child without persistence, for servers that keep their claims there: what it held is gone after a kill.
type Redis struct {
	binary, log string
	port        string

	mu   sync.Mutex
	proc *Process
}

// ErrNoRedis says that there is no redis-server on this machine.
var ErrNoRedis = errors.New("redis-server is not installed (Debian: apt-get install redis-server)")

// NewRedis finds the program and a free loopback port. log is the file that takes its output.
func NewRedis(log string) (*Redis, error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRedis, err)
	}
	port, err := loopback.FreePort()
	if err != nil {
		return nil, fmt.Errorf("find a port for redis: %w", err)
	}
	return &Redis{binary: binary, log: log, port: strconv.Itoa(port)}, nil
}

// Addr is its host:port, which stays the same over Kill and Start.
func (r *Redis) Addr() string { return net.JoinHostPort("127.0.0.1", r.port) }

// Start launches it, empty, and waits until it answers.
func (r *Redis) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	proc, err := Launch(Command{
		Path: r.binary, Log: r.log,
		Args: []string{"--bind", "127.0.0.1", "--port", r.port, "--save", "", "--appendonly", "no", "--daemonize", "no"},
	})
	if err != nil {
		return err
	}
	r.proc = proc
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := poll(ctx, proc.Exited(), func() bool { return pongs(ctx, r.Addr()) }); err != nil {
		_ = proc.Kill()
		return fmt.Errorf("start redis: %w: %s", err, lastLine(r.log))
	}
	return nil
}

func pongs(ctx context.Context, addr string) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline) // fails only on a connection that is gone already
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.HasPrefix(line, "+PONG")
}

// Kill ends it at once. Without a process it does nothing.
func (r *Redis) Kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.proc == nil {
		return nil
	}
	return r.proc.Kill()
}
