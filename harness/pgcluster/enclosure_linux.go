package pgcluster

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// enclose makes an enclosure: a thread of this program where the user may mount, and else a process in a user namespace, where everybody may
// unless the machine forbids it.
func enclose() (enclosure, error) {
	e, err := encloseThread()
	if err == nil {
		return e, nil
	}
	if os.Geteuid() == 0 {
		return nil, err
	}
	return encloseUser()
}

// threadEnclosure is a thread with mounts of its own.
type threadEnclosure struct {
	tasks chan func()
	ended chan struct{}
}

func encloseThread() (*threadEnclosure, error) {
	e := &threadEnclosure{tasks: make(chan func()), ended: make(chan struct{})}
	ready, err := make(chan struct{}), error(nil)
	go e.live(ready, &err)
	<-ready
	return e, err
}

// live keeps its thread to the end, and takes it along: no other goroutine may run among these mounts. The main thread cannot end,
// and is what /proc/self shows of a program: it is left to others.
func (e *threadEnclosure) live(ready chan<- struct{}, err *error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		moved := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(moved)
			e.work(ready, err)
		}()
		<-moved
		runtime.UnlockOSThread()
		return
	}
	e.work(ready, err)
}

func (e *threadEnclosure) work(ready chan<- struct{}, err *error) {
	defer close(e.ended)
	*err = part()
	failed := *err != nil
	close(ready)
	if failed {
		return
	}
	for task := range e.tasks {
		task()
	}
}

// part leaves the mounts that the program shares, and lets nothing that is mounted from now on get back to them.
func part() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("leave the shared mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts private: %w", err)
	}
	return nil
}

// do runs f among the enclosure's mounts and waits for it.
func (e *threadEnclosure) do(f func() error) error {
	result := make(chan error, 1)
	e.tasks <- func() { result <- f() }
	return <-result
}

// launch starts cmd among the enclosure's mounts. Its parent-death signal is sent when the enclosure's thread ends.
func (e *threadEnclosure) launch(cmd *exec.Cmd) (*postmaster, error) {
	cmd.WaitDelay = waitDelay
	p := &postmaster{exited: make(chan struct{})}
	if err := e.do(cmd.Start); err != nil {
		return nil, err
	}
	p.pid = cmd.Process.Pid
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// open ends the thread.
func (e *threadEnclosure) open() {
	close(e.tasks)
	<-e.ended
}

// seen is the path itself: what runs in the enclosure sees its mounts.
func (e *threadEnclosure) seen(path string) string { return path }

func (e *threadEnclosure) mountMemory(path string, size int64, owner *account) error {
	options := fmt.Sprintf("size=%d,mode=0700", size)
	if owner != nil {
		options += fmt.Sprintf(",uid=%d,gid=%d", owner.uid, owner.gid)
	}
	return unix.Mount("idemstorm", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options)
}
