package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command is one server process to start.
type Command struct {
	Path string
	Args []string
	Dir  string   // to start in; "" is the harness's own
	Env  []string // beside the harness's own environment
	Log  string   // file that takes stdout and stderr, appended
}

// Process is a running child. It ends with the harness, even when that is killed.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child was reaped
	err  error         // of Wait; read after done
}

// Launch starts c. The child gets a process group of its own, so that a terminal's Ctrl-C reaches the harness alone, which then stops
// its children in order; and the kernel kills it should the harness die.
func Launch(c Command) (*Process, error) {
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.own(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// own keeps the thread that forked alive as long as the child: a parent-death signal is sent when that thread ends.
func (p *Process) own(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the child has ended.
func (p *Process) Exited() <-chan struct{} { return p.done }

// Kill ends the child at once (SIGKILL) and waits for it.
func (p *Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Pause stops the child where it stands (SIGSTOP), and returns when none of its threads runs any more.
func (p *Process) Pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), pauseWithin)
	defer cancel()
	if poll(ctx, p.done, p.stopped) != nil && ctx.Err() != nil {
		return fmt.Errorf("pause process %d: it still runs after %v", p.PID(), pauseWithin)
	}
	return nil
}

// pauseWithin bounds the wait for a signal to reach every thread.
const pauseWithin = 10 * time.Second

// stopped asks the kernel, which says so when the last thread has stopped. What it says is left for others to be asked.
func (p *Process) stopped() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.PID(), &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// Resume lets a paused child go on (SIGCONT).
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

// Stop asks the child to end (SIGTERM), and kills it after grace or when ctx ends.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	return p.StopBy(ctx, syscall.SIGTERM, grace)
}

// StopBy is Stop by another signal.
func (p *Process) StopBy(ctx context.Context, sig syscall.Signal, grace time.Duration) error {
	_ = p.Resume() // a paused child would not see the request
	if err := p.signal(sig); err != nil {
		return err
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return p.Kill()
}

// signal sends sig to the child and to what it has started in its group, such as the server behind a shell or npm; a child that has
// ended already is no error.
func (p *Process) signal(sig syscall.Signal) error {
	select {
	case <-p.done: // its number may be another's by now
		return nil
	default:
	}
	err := unix.Kill(-p.PID(), sig)
	if err == nil || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return fmt.Errorf("signal %v to process %d: %w", sig, p.PID(), err)
}
