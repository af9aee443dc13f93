package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// A struck run is one in which all of its faults are in force at one time, far longer than a test lets them.
type struckRun struct {
	name    string
	subject string // beside the replicas
	faults  []string
}

// struckRuns have every kind of fault between them. What a server cannot feel while another fault has it stands in another run.
var struckRuns = []struckRun{
	{name: "paths and servers", faults: []string{
		"kind: path-refuse, on: store, replica: 1", "kind: path-hang, on: database, replica: 1",
		"kind: path-slow, on: store, replica: 2, delay: 5ms", "kind: commit-ack-lost, on: database, replica: 2",
		"kind: replica-kill, on: replica, replica: 1", "kind: replica-pause, on: replica, replica: 2", "kind: provider-slow, delay: 1s",
	}},
	{name: "paths and pooler", subject: ", pgbouncer: true", faults: []string{
		"kind: path-reset, on: store, replica: 1", "kind: path-half-open, on: database, replica: 1",
		"kind: path-trickle, on: store, replica: 2, bandwidth: 2000", "kind: statement-delay, on: database, replica: 2, statement: INSERT, delay: 1s",
		"kind: replica-clock, replica: 1, by: 1h", "kind: provider-fail", "kind: command, run: cleanup, every: 500ms", "kind: pgbouncer-kill",
	}},
	{name: "paths and redis", subject: ", redis: true", faults: []string{
		"kind: path-flapping, on: store, replica: 1, bad: 200ms, good: 200ms", `kind: error-share, on: database, replica: 2, code: "40001", statement: INSERT`,
		"kind: replica-restart, on: replica, replica: 1", "kind: provider-fail-after-acting", "kind: records-age, by: 1m, state: in_flight, every: 1s", "kind: redis-restart",
	}},
	{name: "switches and records", faults: []string{
		"kind: flag, flag: new_orders_disabled, value: true", "kind: provider-down", "kind: records-expire, state: final, every: 1s",
	}},
	{name: "postgres killed", faults: []string{"kind: postgres-kill"}},
	{name: "postgres paused", faults: []string{"kind: postgres-pause"}},
	{name: "postgres down for a restart", faults: []string{"kind: postgres-restart"}},
	{name: "postgres stopped at once", faults: []string{"kind: postgres-stop-immediate"}},
	{name: "postgres killed with unwritten commits", faults: []string{"kind: postgres-crash-unsynced, lag: 100ms"}},
	{name: "a standby about to take over", subject: ", standby: asynchronous", faults: []string{"kind: failover, lag: 100ms"}},
	{name: "no connections left", faults: []string{"kind: postgres-connections-exhausted"}},
	{name: "no writes", faults: []string{"kind: postgres-read-only"}},
	{name: "a locked table", faults: []string{"kind: postgres-table-lock"}},
	{name: "a full disk, paused servers and a pooler", subject: ", pgbouncer: true", faults: []string{
		"kind: postgres-disk-full", "kind: replica-pause, on: replica",
	}},
}

// scenario is the run's file.
func (r struckRun) scenario() string {
	text := strings.Replace(steady, "{replicas: 2}", "{replicas: 2"+r.subject+"}", 1) + "faults:\n"
	for _, f := range r.faults {
		text += "  - {" + f + ", at: 100ms, for: 55s}\n"
	}
	return text
}

func TestEveryKindOfFaultIsOfAStruckRun(t *testing.T) {
	for _, k := range fault.Kinds {
		in := func(r struckRun) bool {
			return slices.ContainsFunc(r.faults, func(f string) bool { kind, _, _ := strings.Cut(f+",", ","); return kind == "kind: "+k.Name })
		}
		if !slices.ContainsFunc(struckRuns, in) {
			t.Errorf("how a run ends in %s is not tried", k.Name)
		}
	}
}

// Whatever is broken or stopped or mounted at the moment: nothing of a run is left, whether somebody asks it to end or kills it.
func TestNothingIsLeftOfARunThatEndsInAnyFault(t *testing.T) {
	for _, run := range struckRuns {
		t.Run(run.name, func(t *testing.T) {
			t.Run("Ctrl-C", func(t *testing.T) {
				t.Parallel()
				cmd, have, dir := run.strike(t)
				have.end(t, cmd, syscall.SIGINT)
				if code := cmd.ProcessState.ExitCode(); code != verdict.ExitInconclusive {
					t.Errorf("exit code %d, want %d", code, verdict.ExitInconclusive)
				}
				if judged, err := verdict.Load(dir); err != nil || !judged.Verdict.Interrupted {
					t.Errorf("the verdict does not say that it was interrupted (%v)", err)
				}
			})
			t.Run("kill -9", func(t *testing.T) {
				t.Parallel()
				cmd, have, _ := run.strike(t)
				have.end(t, cmd, syscall.SIGKILL)
			})
		})
	}
}

// end ends the run by a signal to the command alone, and looks for what is left.
func (b *belongings) end(t *testing.T, cmd *exec.Cmd, by os.Signal) {
	t.Helper()
	b.survey(t, cmd)
	if err := cmd.Process.Signal(by); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	b.awaitNothingLeft(t)
}

// strike starts the run and returns when its history says that every fault is in force.
func (r struckRun) strike(t *testing.T) (cmd *exec.Cmd, have *belongings, dir string) {
	t.Helper()
	have = newBelongings(t)
	home := t.TempDir()
	file := filepath.Join(home, "steady.yaml")
	if err := os.WriteFile(file, []byte(r.scenario()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program(t, home), "run", file, "--seed", "1", "--out", filepath.Join(home, "out"))
	cmd.Env = have.environment()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _ = cmd.Process.Kill(); t.Failed() {
			t.Log(output.String())
		}
	})
	dir = filepath.Join(home, "out", "steady")
	awaitEvery(t, 100*time.Millisecond, fmt.Sprintf("all %d faults to be in force", len(r.faults)), 120*time.Second, func() bool {
		return inForce(filepath.Join(dir, "history.jsonl.gz")) == len(r.faults)
	})
	return cmd, have, dir
}

// inForce counts the faults that a history, complete or not, says have begun.
func inForce(file string) (n int) {
	for e, err := range history.Read(file) {
		if err == nil && e.Fault != nil && e.Fault.Phase == history.FaultBegan {
			n++
		}
	}
	return n
}
