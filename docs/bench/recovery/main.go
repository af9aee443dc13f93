// Command recovery is what docs/bench/recovery.sh measures with: it reads finished runs and prints, for each kind of fault, how long keys
// stayed open and errors went on after it had healed.
package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// measured is what was seen of one kind of fault.
type measured struct {
	Kind      string        `json:"kind"`
	Faults    int           `json:"faults"` // how many of the kind struck
	Requests  int64         `json:"requests"`
	Unsettled int64         `json:"unsettled"`        // keys open when one of them had healed
	Settled   time.Duration `json:"settled_ns"`       // median over faults of the time until the last open key settled
	SettledBy time.Duration `json:"settled_worst_ns"` // the longest of them
	Told      int           `json:"told"`             // of Faults, those of which it could be told when errors were over
	Errors    time.Duration `json:"errors_ns"`        // median of that time
	ErrorsBy  time.Duration `json:"errors_worst_ns"`  // the longest
	Harmed    int64         `json:"harmed"`           // executed twice, acknowledged and lost, or stuck
}

// main expects the directories of runs, or directories that hold some.
func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "recovery:", err)
		os.Exit(1)
	}
}

func run(dirs []string) error {
	kinds := map[string][]verdict.Window{}
	for _, dir := range dirs {
		if err := collect(dir, kinds); err != nil {
			return err
		}
	}
	if len(kinds) == 0 {
		return fmt.Errorf("no run with faults in %q", dirs)
	}
	var list []measured
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		list = append(list, sum(kind, kinds[kind]))
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(list)
}

// collect takes runs without doubts only: a generator that was too late says nothing about the server.
func collect(dir string, kinds map[string][]verdict.Window) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != verdict.File {
			return err
		}
		r, err := verdict.Load(filepath.Dir(path))
		if err != nil {
			return err
		}
		if r.Variant != "" || len(r.Verdict.Doubts) > 0 || r.Verdict.Interrupted {
			fmt.Fprintln(os.Stderr, "recovery: left out, it is doubtful or of a variant:", path)
			return nil
		}
		for _, w := range r.Windows {
			kinds[w.Kind] = append(kinds[w.Kind], w)
		}
		return nil
	})
}

func sum(kind string, windows []verdict.Window) measured {
	m := measured{Kind: kind, Faults: len(windows)}
	var settled, errors []time.Duration
	for _, w := range windows {
		m.Requests += w.Attempts
		m.Unsettled += w.Unsettled
		for _, n := range []*int64{w.Twice, w.Lost, w.Stuck} {
			if n != nil {
				m.Harmed += *n
			}
		}
		settled = append(settled, w.Longest)
		if w.BackWhy == "" {
			errors = append(errors, w.Back)
		}
	}
	m.Told = len(errors)
	m.Settled, m.SettledBy = medianAndMost(settled)
	m.Errors, m.ErrorsBy = medianAndMost(errors)
	return m
}

func medianAndMost(list []time.Duration) (median, most time.Duration) {
	if len(list) == 0 {
		return 0, 0
	}
	slices.Sort(list)
	return list[(len(list)-1)/2], list[len(list)-1]
}
