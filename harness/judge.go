package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

// Judge reaches the verdict of a run directory from its files alone, and returns the run with it. It writes nothing.
func Judge(dir string) (verdict.Run, error) {
	run, err := verdict.Load(dir)
	if err != nil {
		return run, err
	}
	return judge(dir, run)
}

// judge replaces everything in run that follows from the files of dir.
func judge(dir string, run verdict.Run) (verdict.Run, error) {
	scenario, err := scenarios.Load(filepath.Join(dir, FileScenario))
	if err != nil {
		return run, err
	}
	set, missing := evidence.Load(filepath.Join(dir, FileEvidence))
	if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
		return run, missing
	}
	promise, err := contractOf(dir, scenario.Subject.Contract())
	if err != nil {
		return run, err
	}
	planned := digested{ops: history.ScanOperations(filepath.Join(dir, FilePlan))}
	in := check.Input{
		Scenario: scenario.Name, Contract: promise, Operations: planned.all,
		Events:   history.Scan(filepath.Join(dir, FileHistory)),
		Evidence: set, Claimed: scenario.Invariants,
		Limits: check.Limits{Recovery: cmp.Or(promise.Recovery, scenario.Settle.Within), Loss: scenario.Loss()},
	}
	check.JudgeRun(in, &run)
	run.Verdict.Gates = check.JudgeGates(scenario.Gates, run.Latency)
	run.Verdict.Doubts = append(run.Verdict.Doubts, run.Doubts...)
	if run.PlanDigest != planned.digest {
		run.Verdict.Doubts = append(run.Verdict.Doubts, "the plan file is not the plan that was run: its digest is another than run.json's")
	}
	if missing != nil {
		run.Verdict.Doubts = append(run.Verdict.Doubts, "the run ended before its evidence was read: "+missing.Error())
	}
	run.Verdict.Doubts = append(run.Verdict.Doubts, check.Unfelt(run)...)
	run.Files, err = filesOf(dir)
	return run, err
}

// filesOf names the files beside run.json, in order.
func filesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the run directory: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && e.Name() != verdict.File && filepath.Ext(e.Name()) != ".addr" {
			names = append(names, e.Name())
		}
	}
	return slices.Sorted(slices.Values(names)), nil
}

// digested reads a plan file and sums it up on the way.
type digested struct {
	ops    iter.Seq2[history.Operation, error]
	digest string // of the last whole reading
}

func (d *digested) all(yield func(history.Operation, error) bool) {
	sum := plan.NewDigester()
	for o, err := range d.ops {
		if err == nil {
			sum.Add(&o)
		}
		if !yield(o, err) {
			return
		}
	}
	d.digest = sum.Digest()
}
