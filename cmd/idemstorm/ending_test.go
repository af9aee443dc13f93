package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// steady is traffic that lasts longer than any of these tests lets it.
const steady = `name: steady
summary: Steady traffic.
subject: {replicas: 2}
workload:
  fixture: {users: 8, positions: 0, cash: "100000000.00"}
  phases:
    - {name: traffic, shape: traffic, loop: open, rate: 50, arrivals: constant, for: 60s, clients: 50, mix: {order: 1}, deadline: 3s, bound: 70s}
invariants: [at-most-once]
`

// Ctrl-C ends a run cleanly: what was recorded is kept, judged and reported as interrupted, and nothing is left running.
func TestCtrlCKeepsWhatWasRecordedAndLeavesNothingRunning(t *testing.T) {
	cmd, dir := startSteadyRun(t)
	family := descendants(t, cmd.Process.Pid)
	if len(family) < 3 {
		t.Fatalf("only %d processes were started; the servers and PostgreSQL are missing", len(family))
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != verdict.ExitInconclusive {
		t.Errorf("exit code %d (%v), want %d", code, err, verdict.ExitInconclusive)
	}
	run, err := verdict.Load(filepath.Join(dir, "steady"))
	if err != nil {
		t.Fatal(err)
	}
	if !run.Verdict.Interrupted || run.Counts.Attempts == 0 {
		t.Errorf("interrupted %v with %d attempts", run.Verdict.Interrupted, run.Counts.Attempts)
	}
	for _, name := range []string{"report.html", "history.jsonl.gz", "evidence.json"} {
		if _, err := os.Stat(filepath.Join(dir, "steady", name)); err != nil {
			t.Error(err)
		}
	}
	awaitGone(t, family, 5*time.Second)
}

// A trial that a signal cut short did not let its variant escape.
func TestCtrlCEndsTrialsWithoutCountingThoseThatWereRunning(t *testing.T) {
	cmd := exec.Command(program(t, t.TempDir()), "zoo", "run", "no-fence", "--runs", "1000", "--parallel", "2")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatalf("no trial ended: %s", complaints.String())
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for text := lines.Text(); ; text = lines.Text() {
		if strings.Contains(text, "ESCAPED") {
			t.Error(text)
		}
		if !lines.Scan() {
			break
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != verdict.ExitInconclusive {
		t.Errorf("exit code %d, want %d", code, verdict.ExitInconclusive)
	}
	if got := complaints.String(); !strings.Contains(got, "\nidemstorm: interrupted") {
		t.Errorf("it says %q", got)
	}
}

// Whoever kills the harness does not have to clean up after it.
func TestKill9LeavesNoProcessWithinTwoSeconds(t *testing.T) {
	cmd, _ := startSteadyRun(t)
	family := descendants(t, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = cmd.Wait()
	awaitGone(t, family, 30*time.Second)
	t.Logf("%d processes were gone %v after the kill", len(family), time.Since(killed).Round(time.Millisecond))
}

func startSteadyRun(t *testing.T) (cmd *exec.Cmd, out string) {
	t.Helper()
	return startRun(t, steady)
}

// startRun runs a scenario of the name "steady" in a process of its own and returns when its traffic flows.
func startRun(t *testing.T, text string, flags ...string) (cmd *exec.Cmd, out string) {
	t.Helper()
	dir := t.TempDir()
	scenario := filepath.Join(dir, "steady.yaml")
	if err := os.WriteFile(scenario, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(dir, "out")
	cmd = exec.Command(program(t, dir), append([]string{"run", scenario, "--seed", "1", "--out", out}, flags...)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(output.String())
		}
	})
	log := filepath.Join(out, "steady", "history.jsonl.gz.partial")
	await(t, "the history to grow", 60*time.Second, func() bool {
		info, err := os.Stat(log)
		return err == nil && info.Size() > 500
	})
	return cmd, out
}

// program is this test's own binary under the name that makes it the command. A link of another name would start the tests again, since
// the command starts its servers from its own file.
func program(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "idemstorm")
	if os.Link(self, path) == nil {
		return path
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func await(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	awaitEvery(t, 5*time.Millisecond, what, within, ok)
}

// awaitEvery is await for a look that costs something.
func awaitEvery(t *testing.T, pause time.Duration, what string, within time.Duration, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", within, what)
		}
		time.Sleep(pause) // between two looks, not instead of one
	}
}

// process is one running process: a number can be used again, its start time tells.
type process struct {
	pid, parent int
	started     string
}

// descendants are the children of pid, their children, and so on.
func descendants(t *testing.T, pid int) []process {
	t.Helper()
	all := processes(t)
	var found []process
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, p := range all {
			if p.parent == queue[0] {
				found = append(found, p)
				queue = append(queue, p.pid)
			}
		}
	}
	return found
}

func processes(t *testing.T) []process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// readProcess reads /proc/PID/stat; ok is false for one that has ended, a zombie included.
func readProcess(pid int) (p process, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	_, rest, found := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 20 || fields[0] == "Z" {
		return p, false
	}
	parent, err := strconv.Atoi(fields[1])
	return process{pid, parent, fields[19]}, err == nil
}

func awaitGone(t *testing.T, family []process, within time.Duration) {
	t.Helper()
	await(t, "the processes to end", within, func() bool {
		for _, was := range family {
			if is, ok := readProcess(was.pid); ok && is.started == was.started {
				return false
			}
		}
		return true
	})
}
