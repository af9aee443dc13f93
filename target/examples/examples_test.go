// Package examples_test holds the services of the folders beside it against what docs/third-party.md says of their libraries.
package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	document = "../../docs/third-party.md"
	within   = 3 * time.Minute // for one command, also where much else runs

	held, violated, inconclusive = 0, 1, 5 // exit codes
)

// row is one line of the document's table: a command, and what it comes to.
type row struct {
	command   string
	verdict   string // held, violated or nothing broken
	invariant string // that is violated
}

var tableLine = regexp.MustCompile("(?m)^\\| `(idemstorm [^`]+)` \\| (held|nothing broken|violated: ([a-z-]+)) \\|$")

func table(t *testing.T) (rows []row) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range tableLine.FindAllStringSubmatch(string(text), -1) {
		verdict, _, _ := strings.Cut(m[2], ":")
		rows = append(rows, row{command: m[1], verdict: verdict, invariant: m[3]})
	}
	if lines := strings.Count(string(text), "| `idemstorm "); len(rows) == 0 || len(rows) != lines {
		t.Fatalf("%s has %d commands, and %d of them can be read", document, lines, len(rows))
	}
	return rows
}

// A library that comes out otherwise than the document says, for better or for worse, makes the document wrong.
func TestEveryVerdictOnAThirdPartyIsTheOneInTheDocument(t *testing.T) {
	rows := table(t)
	everyTargetIsIn(t, rows)
	b := build(t)
	for n, r := range rows {
		name := strings.NewReplacer("idemstorm ", "", "--target target/examples/", "", "/", ", ").Replace(r.command)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exit, out := b.run(t, n, r.command)
			for tries := 1; tries < 3 && exit == inconclusive && r.verdict != "nothing broken"; tries++ {
				exit, out = b.run(t, n, r.command) // this machine was late: that says nothing of the service
			}
			if want, ok := r.says(exit, out); !ok {
				t.Errorf("exit code %d; the document says %s. %s\n%s", exit, r.verdict, want, out)
			}
		})
	}
}

// says tells whether a command that ended so came to what the document says, and if not, what it should have come to.
func (r row) says(exit int, out string) (want string, ok bool) {
	switch r.verdict {
	case "held":
		return "That is 0", exit == held
	case "violated":
		convicted := regexp.MustCompile(`(?m)^✗ ` + r.invariant + ` violated|VIOLATED ` + r.invariant + `:`)
		return "That is 1, by " + r.invariant, exit == violated && convicted.MatchString(out)
	}
	return "That is 5, or 0", exit == inconclusive && strings.Contains(out, "nothing broken was seen") || exit == held
}

func everyTargetIsIn(t *testing.T, rows []row) {
	t.Helper()
	targets, err := filepath.Glob("*/*.yaml")
	if err != nil || len(targets) == 0 {
		t.Fatal("no target files: ", err)
	}
	all := ""
	for _, r := range rows {
		all += r.command + "\n"
	}
	for _, target := range targets {
		if !strings.Contains(all, "--target target/examples/"+filepath.ToSlash(target)+"\n") {
			t.Errorf("no command in the table is of %s", target)
		}
	}
}

// The counterexample that no scenario comes to.
func TestALateDeleteTakesARetrysClaimAway(t *testing.T) {
	b := build(t)
	out := b.command(t, filepath.Join(b.root, "target/examples/express-idempotency"), "node", "late-delete.js")
	if !strings.Contains(out, "2 orders under one key") {
		t.Errorf("express-4 of the document is not so any more:\n%s", out)
	}
}

// A lock file that names where its packages came from would send everybody there.
func TestLockFilesNameNoRegistry(t *testing.T) {
	locks, err := filepath.Glob("*/package-lock.json")
	if err != nil || len(locks) == 0 {
		t.Fatal("no lock files: ", err)
	}
	for _, lock := range locks {
		text, err := os.ReadFile(lock)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"resolved"`)) || !bytes.Contains(text, []byte(`"integrity"`)) {
			t.Errorf("%s: write it by npm install --package-lock-only --omit-lockfile-registry-resolved", lock)
		}
	}
}

// run executes a command of the document, with a database of Redis that is its own.
func (b bench) run(t *testing.T, n int, command string) (exit int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	args := append(strings.Fields(command)[1:], "--out", filepath.Join(b.root, "out", fmt.Sprint(n)))
	cmd := exec.CommandContext(ctx, b.idemstorm, args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "NO_COLOR=1", fmt.Sprintf("DISPOSABLE_REDIS_URL=redis://%s/%d", b.redis, n))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatalf("%s: %v\n%s", command, err, text)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}
