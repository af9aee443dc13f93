package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// One scenario that cannot be run here stops none of the others, and is never taken for held.
func TestAScenarioThatCannotBeRunHereIsInconclusiveAndTheOthersRun(t *testing.T) {
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	out := t.TempDir()
	run := func(scenarios ...string) (code int, said string) {
		cmd := exec.Command(program(t, t.TempDir()), append([]string{"run", "--seed", "1", "--out", out, "--dsn", cluster.DSN("postgres")}, scenarios...)...)
		text, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(text)
	}
	code, said := run("postgres-disk", "scope", "pgbouncer")
	if code != verdict.ExitInconclusive || !strings.Contains(said, "scope: HELD") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for scenario, why := range map[string]string{"postgres-disk": "not ours to change", "pgbouncer": "a server of our own only"} {
		saved, err := verdict.Load(filepath.Join(out, scenario))
		if err != nil {
			t.Fatal(err)
		}
		if v := saved.Verdict; v.Exit() != verdict.ExitInconclusive || len(v.Doubts) != 1 || !strings.Contains(v.Doubts[0], why) {
			t.Errorf("%s: exit %d, doubts %q", scenario, v.Exit(), v.Doubts)
		}
		again, err := exec.Command(program(t, t.TempDir()), "check", filepath.Join(out, scenario)).CombinedOutput()
		if !strings.Contains(string(again), "INCONCLUSIVE") {
			t.Errorf("check %s: %v: %s", scenario, err, again)
		}
	}
	if code, said := run("postgres-disk"); code != verdict.ExitUnreachable || !strings.Contains(said, "not ours to change") {
		t.Errorf("alone: exit code %d: %s", code, said)
	}
}
