package pgcluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"
)

// helperVariable makes the test binary start a cluster and wait, as a program
// that can be killed or run as another user.
const helperVariable = "IDEMSTORM_PGCLUSTER_HELPER"

func TestMain(m *testing.M) {
	if role := os.Getenv(helperVariable); role != "" {
		if err := help(role); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// help prints "pid folder" once the cluster runs, and stops it when its input ends.
func help(role string) error {
	options := Options{Fast: true, Dir: os.Getenv("TMPDIR")}
	if role == "small disk" || role == "fills a disk" {
		options.SmallDisk = testDisk
	}
	cluster, err := Start(context.Background(), options)
	if err != nil {
		return err
	}
	if role == "fills a disk" {
		story, err := fillsADisk(cluster)
		if err != nil {
			return errors.Join(err, cluster.Stop())
		}
		fmt.Println(story)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return cluster.Stop()
	}
	if role == "paused" {
		if err := cluster.Pause(); err != nil {
			return err
		}
	}
	if role == "standby" { // the caller is told of the standby alone; its primary is held at work
		if cluster, err = heldPair(cluster); err != nil {
			return err
		}
	}
	if role == "small disk" {
		if err := cluster.FillDisk(); err != nil {
			return err
		}
	}
	if role == "panics" {
		_ = syscall.Kill(cluster.guard.cmd.Process.Pid, syscall.SIGKILL)
	}
	pid := cluster.server.pid
	if role == "server killed" {
		if err := cluster.Kill(); err != nil {
			return err
		}
	}
	fmt.Println(pid, cluster.Folder())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if role == "panics" {
		panic("on purpose")
	}
	return cluster.Stop()
}

// heldPair gives a cluster a standby and holds its replication.
func heldPair(primary *Cluster) (standby *Cluster, err error) {
	if standby, err = primary.StartStandby(context.Background(), Asynchronous); err != nil {
		return nil, err
	}
	return standby, primary.Hold(context.Background(), WALSender)
}

// helper is a running copy of the test binary that owns a cluster.
type helper struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	base   string // its TMPDIR
	lines  *bufio.Reader
	server int // the postmaster's process id
	folder string
}

// startHelper runs this binary as a program of its own, as user nobody if asked
// to and possible, with its files in a folder that nobody can reach.
func startHelper(t *testing.T, role string, asNobody bool) *helper {
	t.Helper()
	h := startHelperThat(t, role, asNobody)
	line, _ := h.lines.ReadString('\n')
	if _, err := fmt.Sscan(line, &h.server, &h.folder); err != nil {
		t.Fatalf("the helper said %q", line)
	}
	return h
}

// startHelperThat leaves it to the caller to read what it says.
func startHelperThat(t *testing.T, role string, asNobody bool) *helper {
	t.Helper()
	base := openFolder(t)
	cmd := exec.Command(copyOfSelf(t, base))
	cmd.Env = append(os.Environ(), helperVariable+"="+role, "TMPDIR="+base)
	cmd.Dir = base
	if nobody, err := lookUp("nobody"); asNobody && err == nil && os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody.credential()}
	}
	input, err := cmd.StdinPipe()
	check(t, err)
	output, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &helper{cmd: cmd, input: input, base: base, lines: bufio.NewReader(output)}
}

// openFolder is a temporary folder that every user may use.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pgcluster-test-")
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	check(t, os.Chmod(dir, 0o777))
	return dir
}

func copyOfSelf(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	program, err := os.ReadFile(self)
	check(t, err)
	path := filepath.Join(dir, "helper")
	check(t, os.WriteFile(path, program, 0o755))
	check(t, os.Chmod(path, 0o755))
	return path
}

func startCluster(t *testing.T, options Options) *Cluster {
	t.Helper()
	options.Fast = true
	cluster, err := Start(t.Context(), options)
	check(t, err)
	t.Cleanup(func() { check(t, cluster.Stop()) })
	return cluster
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("after %v it is not so that %s", limit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ended reports whether a process runs no more; one that nobody has reaped has ended.
func ended(pid int) bool {
	state, err := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}

// sqlState is the code of an error of PostgreSQL's; "" for any other.
func sqlState(err error) string {
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}
