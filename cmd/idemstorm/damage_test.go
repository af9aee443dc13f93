package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// briefScenario is a scenario whose files are small, so that they can be judged a thousand times.
const briefScenario = `name: brief
summary: A small race.
subject: {replicas: 2}
workload:
  fixture: {users: 8, positions: 2, cash: "100000.00"}
  phases:
    - {name: race, shape: race, loop: closed, clients: 4, keys: 8, duplicates: 4, mix: {order: 3, checkout: 1}, deadline: 5s, bound: 20s}
invariants: [at-most-once, order-audit-match, replay-fidelity, legal-transitions, money-conserved, metrics-agree]
`

// damaged are the files that a verdict follows from, and how many single bytes of each are changed, one at a time.
var damaged = map[string]int{
	harness.FileHistory: 1000, harness.FilePlan: 200, harness.FileEvidence: 200, verdict.File: 200, harness.FileScenario: 100,
}

// runBrief makes one run directory with a server of that variant, and expects that exit code.
func runBrief(t *testing.T, variant string, want int) (dir string) {
	t.Helper()
	out := t.TempDir()
	scenario := filepath.Join(out, "brief.yaml")
	if err := os.WriteFile(scenario, []byte(briefScenario), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", scenario, "--seed", "3", "--out", out, "--quiet"}
	if variant != "" {
		args = append(args, "--variant", variant)
	}
	cmd := exec.Command(program(t, t.TempDir()), args...)
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("exit code %d (%v), want %d: %s", code, err, want, said)
	}
	return filepath.Join(out, "brief")
}

// spoiled judges the directory while one of its files holds other content, and puts the file back.
func spoiled(t *testing.T, dir, name string, content []byte) (verdict.Run, error) {
	t.Helper()
	path := filepath.Join(dir, name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	run, judged := harness.Judge(dir)
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	return run, judged
}

// neverClean holds what was judged against the rule: an error, or a verdict that is partial and not held.
func neverClean(t *testing.T, what string, run verdict.Run, err error) {
	t.Helper()
	if err != nil {
		return
	}
	v := run.Verdict
	if v.Exit() == verdict.ExitHeld || v.Exit() == verdict.ExitGate || !v.Partial || len(v.Doubts) == 0 {
		t.Errorf("%s: exit %d, partial %v, doubts %q", what, v.Exit(), v.Partial, v.Doubts)
	}
}

// Damage is never part of a clean verdict, and accuses nobody.
func TestADamagedRunIsNeverCleanAndAccusesNobody(t *testing.T) {
	dir := runBrief(t, "", verdict.ExitHeld)
	t.Run("a byte was changed", func(t *testing.T) { changeBytes(t, dir) })
	t.Run("a file is cut off", func(t *testing.T) { cutFiles(t, dir) })
	t.Run("its reports are written again", func(t *testing.T) { writeAgain(t, dir) }) // the last: it does not put the file back
}

// changeBytes is what a disk or a hand may do.
func changeBytes(t *testing.T, dir string) {
	for name, flips := range damaged {
		whole, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(7, uint64(flips)))
		for range flips {
			at, mask := random.IntN(len(whole)), byte(1+random.IntN(255))
			flipped := bytes.Clone(whole)
			flipped[at] ^= mask
			run, err := spoiled(t, dir, name, flipped)
			neverClean(t, name, run, err)
			if err == nil && run.Verdict.Exit() != verdict.ExitInconclusive {
				t.Errorf("%s: byte %d changed by %#x accuses a right server: %s", name, at, mask, run.Verdict.Sentence())
			}
		}
	}
	if run, err := harness.Judge(dir); err != nil || run.Verdict.Exit() != verdict.ExitHeld {
		t.Fatalf("put back, the files say %v, %v", run.Verdict.Sentence(), err)
	}
}

// cutFiles is what a full disk or a broken copy leaves.
func cutFiles(t *testing.T, dir string) {
	for name := range damaged {
		whole, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range lengths(len(whole)) {
			run, err := spoiled(t, dir, name, whole[:length])
			neverClean(t, name, run, err)
			if err == nil && run.Verdict.Exit() == verdict.ExitViolated {
				t.Errorf("%s cut to %d of %d bytes accuses a right server: %s", name, length, len(whole), run.Verdict.Sentence())
			}
		}
	}
}

// lengths are the empty file, a few that are nearly whole, and others in between.
func lengths(n int) []int {
	out := []int{0, 1, n - 1, n - 8, n - 30}
	for i := range 20 {
		out = append(out, n*i/20)
	}
	return slices.DeleteFunc(out, func(l int) bool { return l < 0 || l >= n })
}

// A violation that the rest of a history still shows stays one, and its verdict says that it is partial.
func TestWhatIsLeftOfAHistoryStillConvicts(t *testing.T) {
	dir := runBrief(t, "select-then-insert", verdict.ExitViolated)
	whole, err := os.ReadFile(filepath.Join(dir, harness.FileHistory))
	if err != nil {
		t.Fatal(err)
	}
	run, err := spoiled(t, dir, harness.FileHistory, whole[:len(whole)-9])
	if err != nil || run.Verdict.Exit() != verdict.ExitViolated || !run.Verdict.Partial {
		t.Errorf("%v: %s, partial %v", err, run.Verdict.Sentence(), run.Verdict.Partial)
	}
}

// writeAgain must not launder a run.json that was damaged.
func writeAgain(t *testing.T, dir string) {
	path := filepath.Join(dir, verdict.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, content := range map[string][]byte{
		"changed": bytes.Replace(whole, []byte(`"seed": 3`), []byte(`"seed": 4`), 1), "cut off": whole[:len(whole)/2],
	} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program(t, t.TempDir()), "report", dir)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", what, err, said)
		}
		run, err := harness.Judge(dir)
		if err != nil {
			t.Fatal(err)
		}
		neverClean(t, what, run, nil)
	}
}
