package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// poolerAndFullDisk is a run with all that faults of PostgreSQL may leave behind: a server of its own, a mount, a file that fills it, a pooler.
var poolerAndFullDisk = strings.Replace(steady, "subject: {replicas: 2}", `subject: {replicas: 2, pgbouncer: true}
faults: [{kind: `+gravest()+`, at: 100ms, for: 55s}]`, 1)

// gravest is the fault that leaves most to be removed, of those that this user may inject.
func gravest() string {
	if os.Geteuid() == 0 {
		return "postgres-disk-full"
	}
	return "postgres-connections-exhausted"
}

// However a run ends while a fault of PostgreSQL is in force, nothing of it is left.
func TestNothingIsLeftOfARunThatEndsInAFaultOfPostgreSQL(t *testing.T) {
	for name, end := range map[string]os.Signal{"Ctrl-C": syscall.SIGINT, "kill -9": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			cmd, _ := startRun(t, poolerAndFullDisk)
			family, folders := descendants(t, cmd.Process.Pid), foldersOf(t, cmd)
			awaitFullDisk(t, family, folders)
			if !anyIs(family, "pgbouncer") {
				t.Error("no pgbouncer was started")
			}
			if err := cmd.Process.Signal(end); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			awaitGone(t, family, 30*time.Second)
			await(t, "the folders to be removed", 30*time.Second, func() bool { return len(foldersOf(t, cmd)) == 0 })
			for _, p := range processes(t) {
				if mounted(p.pid, folders) {
					t.Errorf("process %d still has the disk", p.pid)
				}
			}
		})
	}
}

// foldersOf are the clusters' folders of a run.
func foldersOf(t *testing.T, cmd *exec.Cmd) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("/tmp", fmt.Sprintf("idemstorm-pg-%d-*", cmd.Process.Pid)))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// awaitFullDisk returns when a process of the run sees the file that fills the disk.
func awaitFullDisk(t *testing.T, family []process, folders []string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	await(t, "the disk to be full", 60*time.Second, func() bool {
		for _, p := range family {
			for _, folder := range folders {
				if _, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", p.pid), folder, "disk", "ballast")); err == nil {
					return true
				}
			}
		}
		return false
	})
}

func anyIs(family []process, name string) bool {
	for _, p := range family {
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.pid)); err == nil && strings.TrimSpace(string(comm)) == name {
			return true
		}
	}
	return false
}

// mounted says whether a process sees a mount in one of the folders.
func mounted(pid int, folders []string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return false
	}
	for _, folder := range folders {
		if strings.Contains(string(text), folder) {
			return true
		}
	}
	return false
}
