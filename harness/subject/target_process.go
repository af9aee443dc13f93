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
	addresses, err := addressesOf(dsn, port)
	if err != nil {
		return nil, err
	}
	s := &Server{target: t, port: port}
	s.command = Command{
		Path: t.Start.Command[0], Dir: t.dir(), Log: filepath.Join(dir, fmt.Sprintf("server-%d.log", n)),
		Env: []string{t.Start.DatabaseEnv + "=" + dsn, t.Start.PortEnv + "=" + port},
	}
	for _, word := range t.Start.Command[1:] {
		s.command.Args = append(s.command.Args, fill(word, addresses))
	}
	for _, name := range names(t.Start.Env) {
		s.command.Env = append(s.command.Env, name+"="+fill(t.Start.Env[name], addresses))
	}
	return s, nil
}

func (t Target) dir() string { return t.path(t.Start.Dir) }

// addressesOf gives the values of addressFields.
func addressesOf(dsn, port string) (map[string]string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("the database's address is no URL")
	}
	password, _ := u.User.Password()
	return map[string]string{
		"port": port, "database_url": dsn, "database_host": u.Hostname(), "database_port": u.Port(),
		"database_name": strings.TrimPrefix(u.Path, "/"), "database_user": u.User.Username(), "database_password": password,
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
	if s.target.Start.Ready != "tcp" {
		return answers(ctx, s.URL()+s.target.Start.Ready)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(loopback.Host, s.port))
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
		return named("schema.file", execute(string(sql)))
	case t.Schema.SQL != "":
		return named("schema.sql", execute(t.Schema.SQL))
	case len(t.Schema.Command) > 0:
		return named("schema.command", t.prepareByCommand(ctx, dsn))
	}
	return nil
}

func named(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

func (t Target) prepareByCommand(ctx context.Context, dsn string) error {
	addresses, err := addressesOf(dsn, "")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, t.Schema.Command[0], t.Schema.Command[1:]...)
	cmd.Dir = t.dir()
	cmd.Env = append(os.Environ(), t.Start.DatabaseEnv+"="+dsn)
	for _, name := range names(t.Start.Env) {
		cmd.Env = append(cmd.Env, name+"="+fill(t.Start.Env[name], addresses))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%w: %s", err, text[len(text)-1])
	}
	return nil
}
