package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
)

const (
	indexDepth = 4      // folders below the one that is indexed
	mostRuns   = 10_000 // of one index
)

// writeIndex writes an index.html over every run below dir, those that cannot be read included.
func writeIndex(stdout io.Writer, dir string) error {
	found, err := findRuns(dir)
	if err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	if len(found) == 0 {
		return exitWith(verdict.ExitUsage, fmt.Errorf("report --index: no run below %s: no folder has a %s", dir, verdict.File))
	}
	if err := reports.SaveOverview(dir, found); err != nil {
		return err
	}
	unreadable := 0
	for _, f := range found {
		if f.Err != nil {
			unreadable++
		}
	}
	_, err = fmt.Fprintf(stdout, "%d runs, %d of them not readable: %s\n", len(found), unreadable, filepath.Join(dir, reports.IndexFile))
	return err
}

// findRuns reads every run.json below dir. Verdicts are taken as they were written; `check` judges anew.
func findRuns(dir string) (found []reports.Found, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil || !d.IsDir() {
			return err
		}
		if f, ok := foundIn(path, filepath.ToSlash(relative)); ok {
			found = append(found, f)
		}
		switch {
		case len(found) >= mostRuns:
			return fs.SkipAll
		case depth(relative) >= indexDepth:
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("report --index: %w", err)
	}
	return found, nil
}

func depth(relative string) int {
	n := 0
	for p := relative; p != "." && p != string(filepath.Separator); p = filepath.Dir(p) {
		n++
	}
	return n
}

// foundIn looks for a run in a folder. One that has a history and no run.json is a run that cannot be read.
func foundIn(path, relative string) (reports.Found, bool) {
	run, err := verdict.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if histories, _ := filepath.Glob(filepath.Join(path, "history.jsonl.gz*")); len(histories) == 0 {
			return reports.Found{}, false
		}
	}
	_, noReport := os.Stat(filepath.Join(path, reports.HTMLFile))
	return reports.Found{Dir: relative, Run: run, Err: err, Report: noReport == nil}, true
}
