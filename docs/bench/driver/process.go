package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// stage is where measurements take place: a handler that runs, and a folder for files.
type stage struct {
	self  string // this program
	dir   string
	url   string // of the handler
	child *exec.Cmd
	stdin io.Closer
}

// openStage starts the handler. It lives until close.
func openStage() (_ *stage, err error) {
	s := &stage{}
	if s.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "idemstorm-bench-"); err != nil {
		return nil, err
	}
	if err = s.serve(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the handler: %w", err), os.RemoveAll(s.dir))
	}
	return s, nil
}

// onStage parses the flags of a command and measures with a handler that lives as long as that takes.
func onStage(set *flag.FlagSet, args []string, measure func(*stage) error) (err error) {
	if err := set.Parse(args); err != nil {
		return err
	}
	s, err := openStage()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return measure(s)
}

func (s *stage) serve() error {
	s.child = exec.Command(s.self, "serve")
	s.child.Stderr = os.Stderr
	stdin, err := s.child.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := s.child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.child.Start(); err != nil {
		return err
	}
	s.stdin = stdin
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return errors.Join(err, stdin.Close(), s.child.Wait())
	}
	s.url = strings.TrimSpace(line)
	return nil
}

func (s *stage) close() error {
	return errors.Join(s.stdin.Close(), s.child.Wait(), os.RemoveAll(s.dir))
}

// handlerTime is the processor time that the handler has used so far.
func (s *stage) handlerTime(ctx context.Context) (time.Duration, error) {
	body, err := s.get(ctx, pathCPU)
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(string(body), 10, 64)
	return time.Duration(ns), err
}

// armStall makes the handler stall for a while, some time after the next order.
func (s *stage) armStall(ctx context.Context, after, length time.Duration) error {
	_, err := s.get(ctx, pathStall+"?"+url.Values{"after": {after.String()}, "for": {length.String()}}.Encode())
	return err
}

func (s *stage) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("handler %s: %s", path, response.Status)
	}
	return io.ReadAll(response.Body)
}

// command runs a program to its end, and gives its output and the processor time of the whole process.
func command(ctx context.Context, name string, args ...string) (stdout []byte, cpu time.Duration, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(complaint.String()))
	}
	return out.Bytes(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
