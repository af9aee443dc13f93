package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// settleInterval is how long to wait before looking at a process's state again.
const settleInterval = time.Millisecond

// waitDelay bounds the wait for the log of a child that has ended: a backend that outlives the postmaster holds the pipe open.
const waitDelay = time.Second

// postmaster is a running child: the server, or the initdb before it.
type postmaster struct {
	pid    int
	exited chan struct{} // closed once the child has been waited for
	err    error         // how it ended; read only after exited is closed
}

// launch starts cmd on a thread that lives as long as the child, because the
// kernel sends the parent-death signal when the *thread* that forked ends.
func launch(cmd *exec.Cmd) (*postmaster, error) {
	cmd.WaitDelay = waitDelay
	p := &postmaster{exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.exited)
		}
	}()
	return p, <-started
}

func (p *postmaster) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// exitError says how the child ended, also when it ended without an error.
func (p *postmaster) exitError() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// finish waits for a child that ends by itself, and kills it when ctx ends first.
func (p *postmaster) finish(ctx context.Context) error {
	select {
	case <-p.exited:
		return p.err
	case <-ctx.Done():
		return errors.Join(ctx.Err(), p.kill())
	}
}

// interrupt asks for a fast shutdown and waits for the end.
func (p *postmaster) interrupt(ctx context.Context) error {
	_ = syscall.Kill(p.pid, syscall.SIGINT)
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// signalQuit asks for an immediate shutdown: the postmaster ends all its children.
func (p *postmaster) signalQuit() { _ = syscall.Kill(p.pid, syscall.SIGQUIT) }

// kill ends the process and its children with SIGKILL and reaps it. The children
// are listed while their parent is stopped and so cannot add to them.
func (p *postmaster) kill() error {
	family, err := p.stopFamily()
	for _, pid := range slices.Backward(family) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if !p.awaitExit(stopLimit) {
		return errors.Join(err, fmt.Errorf("process %d survived SIGKILL for %v", p.pid, stopLimit))
	}
	return err
}

func (p *postmaster) awaitExit(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// freeze stops the process and its children and waits until all of them rest.
func (p *postmaster) freeze() ([]int, error) {
	family, err := p.stopFamily()
	if err != nil {
		return family, err
	}
	deadline := time.Now().Add(stopLimit)
	for _, pid := range family {
		for !resting(pid) {
			if time.Now().After(deadline) {
				return family, fmt.Errorf("process %d still runs after SIGSTOP", pid)
			}
			time.Sleep(settleInterval)
		}
	}
	return family, nil
}

// stopFamily sends SIGSTOP to the process and then to its children, until a
// listing shows no new one: a fork may have been under way in the parent.
func (p *postmaster) stopFamily() ([]int, error) {
	_ = syscall.Kill(p.pid, syscall.SIGSTOP)
	family := []int{p.pid}
	for {
		offspring, err := children(p.pid)
		if err != nil {
			return family, fmt.Errorf("list the children of process %d: %w", p.pid, err)
		}
		grown := false
		for _, pid := range offspring {
			if !slices.Contains(family, pid) {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
				family, grown = append(family, pid), true
			}
		}
		if !grown {
			return family, nil
		}
	}
}

// thaw continues stopped processes, children first, so that the postmaster
// finds them awake.
func thaw(family []int) {
	for _, pid := range slices.Backward(family) {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}
