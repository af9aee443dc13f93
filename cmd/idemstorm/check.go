package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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
	frugalTo    = 512 << 20 // bytes of heap up to which memory counts for more than time
	frugalAt    = 10        // how much the heap may grow over what is in use until then, in percent
	generousAt  = 40        // and from then on
)

// collectLate collects garbage only when there is a lot in memory. What it gives undoes it.
func collectLate() (undo func()) {
	c := &collector{}
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1) // which only tells it
	debug.SetMemoryLimit(min(limit, collectFrom))
	c.afterNext(limit)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.over = true
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// collector chooses anew after each collection how far the heap may grow to the next.
type collector struct {
	mu   sync.Mutex
	over bool
}

func (c *collector) afterNext(limit int64) {
	collected := func(limit int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.over {
			return
		}
		debug.SetGCPercent(growth())
		debug.SetMemoryLimit(limit)
		c.afterNext(limit)
	}
	runtime.AddCleanup(new([1]*int), collected, limit) // nobody holds it: the next collection takes it
}

func growth() int {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(inUse); inUse[0].Value.Uint64() > frugalTo {
		return generousAt
	}
	return frugalAt
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
