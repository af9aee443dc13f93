package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
)

func newCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check DIR…",
		Short: "Judge recorded runs again, from their files alone",
		Long: `Check reads the plan, history and evidence of each run directory and reaches the verdict anew. It writes nothing; the exit code is that
of the verdict. "idemstorm report" writes the reports again.`,
		Example: `  idemstorm check runs/nightly/duplicate-key-race`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := judgeAll(args)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(runs)
			} else {
				err = reports.WriteTerminal(cmd.OutOrStdout(), terminal(), runs...)
			}
			if err != nil {
				return err
			}
			return judged(runs)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the runs as JSON")
	return cmd
}

func newReportCommand() *cobra.Command {
	var index string
	cmd := &cobra.Command{
		Use:   "report DIR…",
		Short: "Write the reports of recorded runs again, from their files alone",
		Long: `Report judges each run directory anew and writes run.json, report.html, junit.xml and summary.md into it. With several directories it also
writes an index over them into the folder of the first. With --index it writes an index.html over all runs below a folder instead: verdicts
and p99 over time, newest first.`,
		Example: `  idemstorm report runs/nightly/*
  idemstorm report --index runs`,
		Args: func(_ *cobra.Command, args []string) error {
			if (index == "") == (len(args) == 0) {
				return errors.New("report: name run directories, or one folder with --index")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if index != "" {
				return writeIndex(cmd.OutOrStdout(), index)
			}
			runs, err := judgeAll(args)
			if err != nil {
				return err
			}
			return saveAll(args, runs)
		},
	}
	cmd.Flags().StringVar(&index, "index", "", "write an index over all runs below this folder (default: none)")
	return cmd
}

// A check holds what it reads and makes little garbage, so that collecting early costs time and saves nothing (docs/bench/checker.sh).
const (
	collectFrom = 320 << 20 // bytes of heap below which nothing is collected
	collectAt   = 10        // how much the heap may grow over what is in use, in percent, from then on
)

// collectLate collects garbage only when there is a lot in memory. What it gives undoes it.
func collectLate() (undo func()) {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(collectFrom)
	var mu sync.Mutex
	after := collectAt
	settle := func(struct{}) {
		mu.Lock()
		defer mu.Unlock()
		debug.SetGCPercent(after)
		debug.SetMemoryLimit(limit)
	}
	runtime.AddCleanup(new([1]*int), settle, struct{}{}) // nobody holds it: the first collection takes it
	return func() {
		mu.Lock()
		after = percent
		mu.Unlock()
		settle(struct{}{})
	}
}

func judgeAll(dirs []string) ([]verdict.Run, error) {
	defer collectLate()()
	var runs []verdict.Run
	for _, dir := range dirs {
		run, err := harness.Judge(dir)
		if err != nil {
			return nil, exitWith(verdict.ExitUsage, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func saveAll(dirs []string, runs []verdict.Run) error {
	parent := filepath.Dir(filepath.Clean(dirs[0]))
	var entries []reports.Entry
	for i, dir := range dirs {
		if err := reports.Save(dir, runs[i]); err != nil {
			return err
		}
		relative, err := filepath.Rel(parent, dir)
		if err != nil {
			return err
		}
		entries = append(entries, reports.Entry{Dir: filepath.ToSlash(relative), Run: runs[i]})
	}
	if len(dirs) == 1 {
		return nil
	}
	return reports.SaveIndex(parent, entries)
}
