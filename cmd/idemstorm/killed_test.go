package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Commands that keep their runs in temporary folders leave none when they are killed.
func TestNothingIsLeftOfTrialsAndSearchesThatAreKilled(t *testing.T) {
	for name, arguments := range map[string][]string{
		"idemstorm-zoo-":     {"zoo", "run", "no-fence", "--runs", "1000", "--parallel", "1"},
		"idemstorm-explore-": {"explore", "--requests", "3", "--preemptions", "4"},
	} {
		t.Run(arguments[0], func(t *testing.T) {
			t.Parallel()
			have := newBelongings(t)
			cmd := exec.Command(program(t, t.TempDir()), arguments...)
			cmd.Env = have.environment()
			var output bytes.Buffer
			cmd.Stdout, cmd.Stderr = &output, &output
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			awaitEvery(t, 100*time.Millisecond, "servers on a database, and their folder", 120*time.Second, func() bool {
				folders, _ := filepath.Glob(filepath.Join(have.temp, name+"*"))
				return len(folders) == 1 && len(listenersOf(t, have.marked(t))) >= 2
			})
			have.end(t, cmd, syscall.SIGKILL)
		})
	}
}

// A database on a server of the user's cannot go with the program; the next run there drops it.
func TestTheNextRunOnAServerDropsWhatAKilledOneLeft(t *testing.T) {
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	given := cluster.DSN("postgres")
	killed, _ := startRun(t, steady, "--dsn", given)
	living, _ := startRun(t, steady, "--dsn", given)
	before := databasesOf(t, cluster)
	if len(before) != 2 {
		t.Fatalf("two runs have the databases %v", before)
	}
	family := descendants(t, killed.Process.Pid)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	awaitGone(t, family, 30*time.Second)

	next := exec.Command(program(t, t.TempDir()), "run", "scope", "--seed", "1", "--out", t.TempDir(), "--quiet", "--dsn", given)
	said, err := next.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "dropped what killed runs had left on the server: idemstorm_run_") {
		t.Errorf("%v: %s", err, said)
	}
	after := databasesOf(t, cluster)
	if len(after) != 1 || !slices.Contains(before, after[0]) || !strings.Contains(string(said), otherOf(before, after[0])) {
		t.Errorf("of %v there is %v left: %s", before, after, said)
	}
	if err := living.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = living.Wait()
	if left := databasesOf(t, cluster); len(left) > 0 {
		t.Errorf("%v is left of a run that ended in order", left)
	}
}

func otherOf(pair []string, one string) string {
	return pair[1-slices.Index(pair, one)]
}

// databasesOf lists the databases of runs.
func databasesOf(t *testing.T, cluster *pgcluster.Cluster) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cluster.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT datname FROM pg_database WHERE datname LIKE 'idemstorm%'`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A run that ends by itself takes everything down too: when all held, when an invariant was violated, and when it could not be set up.
func TestNothingIsLeftOfARunThatEndsByItself(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		without   string // a program that is not found
		code      int
	}{
		"success":          {[]string{"postgres-crash"}, "", verdict.ExitHeld},
		"violation":        {[]string{"body-mismatch", "--variant", "no-body-hash"}, "", verdict.ExitViolated},
		"a failing set-up": {[]string{"redis-restart"}, "redis-server", verdict.ExitUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := newBelongings(t)
			cmd := exec.Command(program(t, t.TempDir()), append([]string{"run", "--seed", "1", "--quiet", "--out", t.TempDir()}, c.arguments...)...)
			cmd.Env = have.environment()
			if c.without != "" {
				cmd.Env = append(cmd.Env, "PATH="+have.mark+":"+pathWithout(t, c.without))
			}
			said, _ := cmd.CombinedOutput()
			// A machine that is busy may leave what held inconclusive.
			if code := cmd.ProcessState.ExitCode(); code != c.code && (code != verdict.ExitInconclusive || c.code != verdict.ExitHeld) {
				t.Errorf("exit code %d, want %d: %s", code, c.code, said)
			}
			have.awaitNothingLeft(t)
		})
	}
}

// pathWithout is a folder of links to every program on the PATH but one.
func pathWithout(t *testing.T, hidden string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		programs, _ := filepath.Glob(filepath.Join(folder, "*"))
		for _, program := range programs {
			if filepath.Base(program) != hidden {
				_ = os.Symlink(program, filepath.Join(dir, filepath.Base(program))) // the first of a name counts
			}
		}
	}
	return dir
}
