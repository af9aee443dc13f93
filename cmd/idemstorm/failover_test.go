package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// held is steady traffic on a pair of servers whose replication stands still for longer than any of these tests lets it.
const held = steady + `faults:
  - {kind: failover, at: 300ms, for: 50s, lag: 45s}
`

// startHeldRun returns when a process of the primary is stopped, and gives the folders of the clusters.
func startHeldRun(t *testing.T) (cmd *exec.Cmd, out string, folders []string) {
	t.Helper()
	cmd, out = startRun(t, strings.Replace(held, "{replicas: 2}", "{replicas: 2, standby: asynchronous}", 1))
	await(t, "the replication to be held", 60*time.Second, func() bool {
		for _, p := range descendants(t, cmd.Process.Pid) {
			if stopped(p.pid) {
				return true
			}
		}
		return false
	})
	for _, base := range slices.Compact([]string{os.TempDir(), "/tmp", "/var/tmp"}) { // root's own may be closed to the server
		found, err := filepath.Glob(filepath.Join(base, fmt.Sprintf("idemstorm-pg-%d-*", cmd.Process.Pid)))
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, found...)
	}
	if len(folders) != 3 { // the lab's own, the primary, its standby
		t.Fatalf("there are the clusters %v", folders)
	}
	return cmd, out, folders
}

func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") T")
}

func awaitRemoved(t *testing.T, folders []string) {
	t.Helper()
	await(t, "the folders to be removed", 30*time.Second, func() bool {
		for _, folder := range folders {
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				return false
			}
		}
		return true
	})
}

func TestKill9LeavesNothingOfAPairWhoseReplicationIsHeld(t *testing.T) {
	cmd, _, folders := startHeldRun(t)
	family := descendants(t, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	awaitGone(t, family, 30*time.Second)
	awaitRemoved(t, folders)
}

func TestCtrlCWhileReplicationIsHeldIsJudgedAndLeavesNothing(t *testing.T) {
	cmd, out, folders := startHeldRun(t)
	family := descendants(t, cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != verdict.ExitInconclusive {
		t.Errorf("exit code %d (%v), want %d", code, err, verdict.ExitInconclusive)
	}
	run, err := verdict.Load(filepath.Join(out, "steady"))
	if err != nil {
		t.Fatal(err)
	}
	if l := run.Verdict.Losses; !run.Verdict.Interrupted || l == nil || len(l.Orders) != 0 {
		t.Errorf("interrupted %v, losses %+v", run.Verdict.Interrupted, l)
	}
	awaitGone(t, family, 30*time.Second)
	awaitRemoved(t, folders)
}

// A run from its first statement to its verdict: the loss is there, is listed, and is no violation; `check` says the same from the files alone.
func TestAnAsynchronousFailoverIsHeldWithItsLossesListed(t *testing.T) {
	const short = `name: steady
summary: A failover in a little traffic.
subject: {replicas: 2, standby: asynchronous}
workload:
  fixture: {users: 8, positions: 0, cash: "100000000.00"}
  phases:
    - {name: traffic, shape: traffic, loop: open, rate: 40, arrivals: constant, for: 5s, clients: 80, mix: {order: 1}, deadline: 5s, bound: 60s}
    - {name: again, shape: again, of: traffic, clients: 8, deadline: 5s, bound: 60s}
faults:
  - {kind: failover, at: 500ms, for: 2500ms, lag: 1500ms}
max_late: 60s
settle: {within: 60s}
invariants: [at-most-once, acked-durable, order-audit-match, money-conserved, legal-transitions]
`
	cmd, out := startRun(t, short)
	err := cmd.Wait()
	run, loaded := verdict.Load(filepath.Join(out, "steady"))
	if loaded != nil {
		t.Fatal(loaded)
	}
	if err != nil || run.Verdict.Exit() != verdict.ExitHeld {
		t.Errorf("%v: %s %v", err, run.Verdict.Sentence(), run.Verdict.Doubts)
	}
	lost := run.Verdict.Losses
	if lost == nil || len(lost.Orders) == 0 {
		t.Fatal("nothing is listed as lost")
	}
	for _, o := range lost.Orders {
		if o.Key == "" || o.Order == "" || o.AckedNS == 0 || !o.Again {
			t.Errorf("a loss without its facts, or whose key did not run again: %+v", o)
		}
	}
	said, err := exec.Command(cmd.Path, "check", filepath.Join(out, "steady")).CombinedOutput()
	if want := fmt.Sprintf("lost, as stated: %d", len(lost.Orders)); err != nil || !strings.Contains(string(said), want) {
		t.Errorf("check: %v, without %q:\n%s", err, want, said)
	}
}
