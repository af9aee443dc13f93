package reports

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/idemstorm/idemstorm/harness/verdict"
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
		writeFile(filepath.Join(dir, HTMLFile), func(w io.Writer) error { return WriteHTML(w, run) }),
		SaveJUnit(filepath.Join(dir, JUnitFile), run),
		writeFile(filepath.Join(dir, MarkdownFile), func(w io.Writer) error { return WriteMarkdown(w, run) }),
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
		writeFile(filepath.Join(dir, IndexFile), func(w io.Writer) error { return WriteIndex(w, entries) }),
		SaveJUnit(filepath.Join(dir, JUnitFile), runs...),
		writeFile(filepath.Join(dir, MarkdownFile), func(w io.Writer) error { return WriteMarkdown(w, runs...) }),
	)
}

// SaveJUnit writes the results of runs where a CI server looks for them.
func SaveJUnit(path string, runs ...verdict.Run) error {
	return writeFile(path, func(w io.Writer) error { return WriteJUnit(w, runs...) })
}

// SaveFile writes a file of a report's folder, whole or not at all.
func SaveFile(path string, data []byte) error {
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeFile writes a file whole or not at all: into a temporary file of the same folder, then renamed over the old one.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", path, err)
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
