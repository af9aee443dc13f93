package reports

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

var update = flag.Bool("update", false, "write the golden files anew")

// formats are all ways to show one run, by the suffix of their golden files.
var formats = map[string]func(io.Writer, verdict.Run) error{
	".html":      WriteHTML,
	".junit.xml": func(w io.Writer, r verdict.Run) error { return WriteJUnit(w, r) },
	".md":        func(w io.Writer, r verdict.Run) error { return WriteMarkdown(w, r) },
	".txt":       func(w io.Writer, r verdict.Run) error { return WriteTerminal(w, Terminal{}, r) },
	".color.txt": func(w io.Writer, r verdict.Run) error { return WriteTerminal(w, Terminal{Width: 60, Color: true}, r) },
}

func rendered(t *testing.T, format string, r verdict.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := formats[format](&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// compare holds text against a golden file; the style sheet, which has a file of its own, and its hash are left out.
func compare(t *testing.T, name, got string) {
	t.Helper()
	s := newSheet("")
	got = strings.NewReplacer(string(s.Style), "…", escapedHash(s), "…").Replace(got)
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file (go test ./reports -update writes it): %v", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// escapedHash is the style's hash as an HTML attribute spells it.
func escapedHash(s sheet) string {
	_, rest, _ := strings.Cut(s.Policy, "'sha256-")
	hash, _, _ := strings.Cut(rest, "'")
	return strings.ReplaceAll(hash, "+", "&#43;")
}

func TestEveryFormatShowsEveryKindOfRunAsBefore(t *testing.T) {
	for name, run := range samples() {
		for format := range formats {
			t.Run(name+format, func(t *testing.T) {
				compare(t, name+format, rendered(t, format, run))
			})
		}
	}
}

func TestSeveralRunsAreShownTogetherAsBefore(t *testing.T) {
	runs := []verdict.Run{violatedRun(), cleanRun(), inconclusiveRun()}
	entries := []Entry{{"1-violated", runs[0]}, {"2-clean", runs[1]}, {"3-inconclusive", runs[2]}}
	for name, write := range map[string]func(io.Writer) error{
		"several.html":      func(w io.Writer) error { return WriteIndex(w, entries) },
		"several.junit.xml": func(w io.Writer) error { return WriteJUnit(w, runs...) },
		"several.md":        func(w io.Writer) error { return WriteMarkdown(w, runs...) },
		"several.txt":       func(w io.Writer) error { return WriteTerminal(w, Terminal{}, runs...) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		compare(t, name, b.String())
	}
}
