package reports

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// Names of the files that Save and SaveIndex write.
const (
	HTMLFile     = "report.html"
	IndexFile    = "index.html"
	JUnitFile    = "junit.xml"
	MarkdownFile = "summary.md"
)

// Save writes every report of one run into its directory, which it makes where needed: run.json, report.html, junit.xml and
// summary.md. run.json comes first, so that a failure later leaves what the others can be made from; the rest is tried to the
// end and the errors are joined.
func Save(dir string, run verdict.Run) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save run: %w", err)
	}
	if err := verdict.Save(dir, run); err != nil {
		return err
	}
	return SaveReports(dir, run)
}

// SaveReports writes what can be made from run.json, and leaves that file alone.
func SaveReports(dir string, run verdict.Run) error {
	return errors.Join(
		wholefile.Write(filepath.Join(dir, HTMLFile), func(w io.Writer) error { return WriteHTML(w, run) }),
		SaveJUnit(filepath.Join(dir, JUnitFile), run),
		wholefile.Write(filepath.Join(dir, MarkdownFile), func(w io.Writer) error { return WriteMarkdown(w, run) }),
	)
}

// SaveIndex writes the reports over several runs, each of which has been saved in a directory of its own: index.html, junit.xml
// and summary.md.
func SaveIndex(dir string, entries []Entry) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save index: %w", err)
	}
	runs := make([]verdict.Run, len(entries))
	for i, e := range entries {
		runs[i] = e.Run
	}
	return errors.Join(
		wholefile.Write(filepath.Join(dir, IndexFile), func(w io.Writer) error { return WriteIndex(w, entries) }),
		SaveJUnit(filepath.Join(dir, JUnitFile), runs...),
		wholefile.Write(filepath.Join(dir, MarkdownFile), func(w io.Writer) error { return WriteMarkdown(w, runs...) }),
	)
}

// SaveJUnit writes the results of runs where a CI server looks for them.
func SaveJUnit(path string, runs ...verdict.Run) error {
	return wholefile.Write(path, func(w io.Writer) error { return WriteJUnit(w, runs...) })
}
