package subject

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// ErrNotReady is wrapped by errors about a server that did not come up.
var ErrNotReady = errors.New("the server did not become ready")

const (
	readyWithin = 20 * time.Second // bound on one start
	stopWithin  = 5 * time.Second  // grace of SIGTERM before SIGKILL
	pollEvery   = 2 * time.Millisecond
)

// Replica is one server process with a fixed address. Its process may be killed and started again.
type Replica struct {
	Number int // from 1

	build func(addr, addrFile string) Command
	dir   string
	ready func(ctx context.Context, addr string) bool // of a server that keeps to the address it is given; nil for one that writes its address file
	stop  syscall.Signal                              // 0 is SIGTERM

	mu     sync.Mutex
	proc   *Process
	addr   string // host:port, fixed by the first start
	starts int
}

// NewReplica makes a replica that has not been started. build gives the command for a listen address and the file
// that the server writes its bound address to. dir takes the address file.
func NewReplica(number int, dir string, build func(addr, addrFile string) Command) *Replica {
	return &Replica{Number: number, build: build, dir: dir}
}

// portAttempts is how many ports a first start tries: between the choice of one and its use another process may take it.
const portAttempts = 3

// Start launches the process and waits until it answers /readyz. A restart keeps the address.
func (r *Replica) Start(ctx context.Context) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.addr != "" {
		return r.launch(ctx)
	}
	for range portAttempts {
		port, found := loopback.FreePort()
		if found != nil {
			return fmt.Errorf("replica %d: %w", r.Number, found)
		}
		r.addr = loopback.Addr(port)
		if err = r.launch(ctx); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
	}
	return err
}

func (r *Replica) launch(ctx context.Context) error {
	file := filepath.Join(r.dir, fmt.Sprintf("replica-%d.addr", r.Number))
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear the address file: %w", err)
	}
	command := r.build(r.addr, file)
	proc, err := Launch(command)
	if err != nil {
		return err
	}
	r.proc = proc
	r.starts++
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := r.awaitReady(ctx, file); err != nil {
		_ = proc.Kill()
		return fmt.Errorf("replica %d: %w: %s", r.Number, err, lastLine(command.Log))
	}
	return nil
}

func (r *Replica) awaitReady(ctx context.Context, file string) error {
	return poll(ctx, r.proc.Exited(), func() bool {
		if r.ready != nil {
			return r.ready(ctx, r.addr)
		}
		addr, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		r.addr = strings.TrimSpace(string(addr))
		return answers(ctx, "http://"+r.addr+"/readyz")
	})
}

// poll asks ok until it says yes, the process has exited, or ctx ends.
func poll(ctx context.Context, exited <-chan struct{}, ok func() bool) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-exited:
			return fmt.Errorf("%w: it exited", ErrNotReady)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrNotReady, ctx.Err())
		}
	}
	return nil
}

// answers tells whether a GET is answered 2xx.
func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode/100 == 2
}

// URL is the replica's base URL.
func (r *Replica) URL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return "http://" + r.addr
}

// Process is the running child, for faults that strike it.
func (r *Replica) Process() *Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proc
}

// Restarted says whether its process is not the first: what the first one counted is lost.
func (r *Replica) Restarted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starts > 1
}

// Stop ends the process in order. A replica that was never started, or has ended, is no error.
func (r *Replica) Stop(ctx context.Context) error {
	p := r.Process()
	if p == nil {
		return nil
	}
	if r.stop != 0 {
		return p.StopBy(ctx, r.stop, stopWithin)
	}
	return p.Stop(ctx, stopWithin)
}

// lastLine is the end of a log file, for an error message.
func lastLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if line := lines[len(lines)-1]; line != "" {
		return "last line of " + path + ": " + line
	}
	return path + " is empty"
}
