package pgcluster

import (
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// enclosure is a thread with mounts of its own, which nobody else sees, and which are gone when the thread and the processes that it
// started are: also after a SIGKILL of all of them, nothing stays mounted.
type enclosure struct {
	tasks chan func()
	ended chan struct{}
}

// enclose makes an enclosure. The caller must open it, or its thread stays.
func enclose() (*enclosure, error) {
	e := &enclosure{tasks: make(chan func()), ended: make(chan struct{})}
	ready, err := make(chan struct{}), error(nil)
	go e.live(ready, &err)
	<-ready
	return e, err
}

// live keeps its thread to the end, and takes it along: no other goroutine may run among these mounts. The main thread cannot end,
// and is what /proc/self shows of a program: it is left to others.
func (e *enclosure) live(ready chan<- struct{}, err *error) {
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

func (e *enclosure) work(ready chan<- struct{}, err *error) {
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
func (e *enclosure) do(f func() error) error {
	result := make(chan error, 1)
	e.tasks <- func() { result <- f() }
	return <-result
}

// launch starts cmd among the enclosure's mounts. Its parent-death signal is sent when the enclosure's thread ends.
func (e *enclosure) launch(cmd *exec.Cmd) (*postmaster, error) {
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

// open ends the thread. Without an enclosure it does nothing.
func (e *enclosure) open() {
	if e == nil {
		return
	}
	close(e.tasks)
	<-e.ended
}

// mountMemory mounts an empty file system of so many bytes on a folder.
func mountMemory(path string, size int64, owner *account) error {
	options := fmt.Sprintf("size=%d,mode=0700", size)
	if owner != nil {
		options += fmt.Sprintf(",uid=%d,gid=%d", owner.uid, owner.gid)
	}
	return unix.Mount("idemstorm", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options)
}
