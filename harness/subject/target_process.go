package subject

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// Server is one process of a target. It keeps its port over a kill and a start.
type Server struct {
	target  Target
	command Command
	port    string

	mu   sync.Mutex
	proc *Process
}

// Server makes the n-th process of the target, from 1, on a free port of the loopback interface. dsn is its database's URL; dir takes its log.
func (t Target) Server(n int, dsn, dir string) (*Server, error) {
	free, err := loopback.FreePort()
	if err != nil {
		return nil, fmt.Errorf("find a port for the server: %w", err)
	}
	port := strconv.Itoa(free)
	command, err := t.command(n, dsn, dir, port)
	return &Server{target: t, port: port, command: command}, err
}

// command is that of the n-th process.
func (t Target) command(n int, dsn, dir, port string) (Command, error) {
	addresses, err := t.addresses(dsn, port)
	if err != nil {
		return Command{}, err
	}
	c := Command{Path: t.Start.Command[0], Dir: t.dir(), Log: LogPath(dir, n), Env: t.environment(dsn, addresses)}
	for _, word := range t.Start.Command[1:] {
		c.Args = append(c.Args, fill(word, addresses))
	}
	return c, nil
}

// environment is what a process is told beside the harness's own environment; port is "" for one that does not listen.
func (t Target) environment(dsn string, addresses map[string]string) []string {
	env := []string{t.Start.DatabaseEnv + "=" + dsn}
	if addresses["port"] != "" {
		env = append(env, t.Start.PortEnv+"="+addresses["port"])
	}
	if t.provider != "" {
		env = append(env, t.Evidence.Provider.Env+"="+t.provider)
	}
	for _, name := range names(t.Start.Env) {
		env = append(env, name+"="+fill(t.Start.Env[name], addresses))
	}
	return env
}

// LogPath is the file in dir that takes the n-th process's log.
func LogPath(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("server-%d.log", n)) }

func (t Target) dir() string { return t.path(t.Start.Dir) }

// addresses gives the values of addressFields.
func (t Target) addresses(dsn, port string) (map[string]string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("the database's address is no URL")
	}
	password, _ := u.User.Password()
	return map[string]string{
		"port": port, "database_url": dsn, "database_host": u.Hostname(), "database_port": u.Port(),
		"database_name": strings.TrimPrefix(u.Path, "/"), "database_user": u.User.Username(), "database_password": password, "provider_url": t.provider,
	}, nil
}

// Start launches the process and waits until it is ready.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	proc, err := Launch(s.command)
	if err != nil {
		return fmt.Errorf("start.command: %w; check the program's name and start.dir", err)
	}
	s.proc = proc
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := poll(ctx, proc.Exited(), func() bool { return s.ready(ctx) }); err != nil {
		_ = proc.Kill()
		return fmt.Errorf("start.ready: %w: nothing answered %s on port %s, which it got as %s; %s", err, s.target.Start.Ready, s.port, s.target.Start.PortEnv, lastLine(s.command.Log))
	}
	return nil
}

func (s *Server) ready(ctx context.Context) bool {
	return s.target.ready(ctx, net.JoinHostPort(loopback.Host, s.port))
}

// ready says whether a process at an address is.
func (t Target) ready(ctx context.Context, addr string) bool {
	if t.Start.Ready != "tcp" {
		return answers(ctx, "http://"+addr+t.Start.Ready)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// Revive starts the process again if it has ended; restarted says that it had.
func (s *Server) Revive(ctx context.Context) (restarted bool, err error) {
	select {
	case <-s.Process().Exited():
		return true, s.Start(ctx)
	default:
		return false, nil
	}
}

// URL is the server's base URL.
func (s *Server) URL() string { return "http://" + net.JoinHostPort(loopback.Host, s.port) }

// Process is the running child; nil before the first start.
func (s *Server) Process() *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// Stop ends the process by the target's signal. One that was never started, or has ended, is no error.
func (s *Server) Stop(ctx context.Context) error {
	p := s.Process()
	if p == nil {
		return nil
	}
	return p.StopBy(ctx, unix.SignalNum(s.target.Start.Stop), stopWithin)
}

// Prepare makes the target's tables in the empty database behind dsn. execute runs statements there.
func (t Target) Prepare(ctx context.Context, dsn string, execute func(sql string) error) error {
	switch {
	case t.Schema.File != "":
		sql, err := os.ReadFile(t.path(t.Schema.File))
		if err != nil {
			return fmt.Errorf("schema.file: %w; the path starts in the target file's folder", err)
		}
		return prepared("schema.file", execute(string(sql)))
	case t.Schema.SQL != "":
		return prepared("schema.sql", execute(t.Schema.SQL))
	case len(t.Schema.Command) > 0:
		return prepared("schema.command", t.prepareByCommand(ctx, dsn))
	}
	return nil
}

// prepared names the field by which tables could not be made.
func prepared(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w; correct it, so that it makes the tables of an empty database", field, err)
}

func (t Target) prepareByCommand(ctx context.Context, dsn string) error {
	addresses, err := t.addresses(dsn, "")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, t.Schema.Command[0], t.Schema.Command[1:]...)
	cmd.Dir = t.dir()
	cmd.Env = append(os.Environ(), t.environment(dsn, addresses)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%w: %s", err, text[len(text)-1])
	}
	return nil
}
