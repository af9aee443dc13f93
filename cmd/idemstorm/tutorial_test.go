package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shownCommand is one command of the tutorial, and the lines that it shows of the output.
type shownCommand struct {
	line string
	want []string
}

var console = regexp.MustCompile("(?s)```console\n(.*?)```")

func tutorial(t *testing.T) (commands []shownCommand) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range console.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				commands = append(commands, shownCommand{line: command})
				continue
			}
			last := &commands[len(commands)-1]
			last.want = append(last.want, line)
		}
	}
	if len(commands) < 10 {
		t.Fatalf("the tutorial has %d commands only", len(commands))
	}
	return commands
}

// A tutorial that is not run is wrong within a month. The lines that it shows must come in that order; numbers may differ, and lines may go on.
func TestTheTutorialShowsWhatItsCommandsPrint(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tour"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range tutorial(t) {
		output, code := play(t, dir, c.line)
		rest := output
		for _, want := range c.want {
			at := loosely(want).FindStringIndex(rest)
			if at == nil {
				t.Fatalf("$ %s\ndoes not print, or not in this place:\n%s\nIt prints (exit code %d):\n%s", c.line, want, code, output)
			}
			rest = rest[at[1]:]
		}
		if violated := strings.Contains(strings.Join(c.want, "\n"), "VIOLATED"); violated != (code == 1) || code > 1 {
			t.Fatalf("$ %s\nends with %d:\n%s", c.line, code, output)
		}
	}
}

func play(t *testing.T, dir, line string) (stdout string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=100", "TMPDIR=/tmp")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
		if code > 1 {
			t.Logf("%s", exit.Stderr)
		}
	}
	return string(out), code
}

var number = regexp.MustCompile(`[0-9][0-9,.]*`)

// loosely matches a line's beginning, whatever its numbers, and however far apart its columns are.
func loosely(line string) *regexp.Regexp {
	parts := number.Split(line, -1)
	for i := range parts {
		parts[i] = regexp.MustCompile(` {2,}`).ReplaceAllString(regexp.QuoteMeta(parts[i]), " +")
	}
	return regexp.MustCompile(`(?m)^` + strings.Join(parts, `[0-9][0-9,.]*`))
}
