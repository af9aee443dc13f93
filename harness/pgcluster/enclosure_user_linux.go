package pgcluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// userEnclosure is a shell in a user namespace and a mount namespace of its own, where an ordinary user has the right to mount. It keeps the
// user's id, since PostgreSQL refuses to run as root, and that only a namespace's root would be. It ends with its input, and so with this program.
type userEnclosure struct {
	join  string // nsenter
	shell *exec.Cmd
	input io.Closer
}

// keepMount mounts, says so, and keeps the namespaces until its input ends.
const keepMount = `mount -t tmpfs -o "$2" idemstorm "$1" && echo mounted && read -r end`

func encloseUser() (*userEnclosure, error) {
	join, err := exec.LookPath("nsenter")
	if err != nil {
		return nil, fmt.Errorf("find the way into a user namespace: %w", err)
	}
	return &userEnclosure{join: join}, nil
}

func (e *userEnclosure) do(f func() error) error { return f() }

// seen leads through the shell's own view of the files, which its user may look into.
func (e *userEnclosure) seen(path string) string {
	return fmt.Sprintf("/proc/%d/root%s", e.shell.Process.Pid, path)
}

// mountMemory starts the shell. A machine that gives ordinary users no namespaces, or no right in them, refuses here.
func (e *userEnclosure) mountMemory(path string, size int64, _ *account) (err error) {
	e.shell = exec.Command("/bin/sh", "-c", keepMount, "sh", path, fmt.Sprintf("size=%d,mode=0700,nosuid,nodev,noexec", size))
	e.shell.Dir = "/"
	e.shell.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true, Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	var complaint bytes.Buffer
	e.shell.Stderr = &complaint
	output, err := e.shell.StdoutPipe()
	if err != nil {
		return err
	}
	if e.input, err = e.shell.StdinPipe(); err != nil {
		return err
	}
	if err := e.shell.Start(); err != nil {
		e.shell = nil
		return fmt.Errorf("enter a user namespace: %w", err)
	}
	if line, _ := bufio.NewReader(output).ReadString('\n'); line != "mounted\n" {
		e.open()
		return errors.New(strings.TrimSpace("mount in a user namespace: " + strings.Join(strings.Fields(complaint.String()), " ")))
	}
	return nil
}

// launch starts cmd through nsenter, which becomes it: process id, parent and parent-death signal stay. It has no right over the mounts.
func (e *userEnclosure) launch(cmd *exec.Cmd) (*postmaster, error) {
	cmd.Args = append([]string{
		e.join, "--user", "--mount", "--preserve-credentials", "--target", strconv.Itoa(e.shell.Process.Pid), "--",
	}, cmd.Args...)
	cmd.Path = e.join
	return launch(cmd)
}

// open ends the shell.
func (e *userEnclosure) open() {
	if e.shell == nil {
		return
	}
	_ = e.input.Close()
	_ = e.shell.Wait() // it ends by a read that failed
	e.shell = nil
}
