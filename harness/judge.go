package harness

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Judge reaches the verdict of a run directory from its files alone, and returns the run with it. It writes nothing. Files that are damaged
// are judged as far as they can be read: such a verdict is partial, says so, and is never held.
func Judge(dir string) (verdict.Run, error) {
	run, err := verdict.Load(dir)
	switch {
	case errors.Is(err, verdict.ErrChanged), errors.Is(err, verdict.ErrDamaged):
		if sentence := "run.json: " + lastCause(err); !slices.Contains(run.Damage, sentence) {
			run.Damage = append(run.Damage, sentence)
		}
	case err != nil:
		return run, err
	}
	return judge(dir, run)
}

// lastCause says which of the two it is, without the path.
func lastCause(err error) string {
	if errors.Is(err, verdict.ErrChanged) {
		return verdict.ErrChanged.Error()
	}
	return "it could not be read, so seed, environment and latencies are not known"
}

// judge replaces everything in run that follows from the files of dir.
func judge(dir string, run verdict.Run) (verdict.Run, error) {
	reading := evidenceAhead(dir)
	harm := inspect(dir, run.Digests)
	harm.found = append(harm.found, run.Damage...)
	scenario, err := harm.scenario(dir, run)
	if err != nil {
		return run, err
	}
	promise, err := contractOf(dir, scenario.Subject.Contract())
	if err != nil {
		return run, err
	}
	run.Scenario = scenario.Name
	planned := digested{ops: watched(history.ScanOperations(filepath.Join(dir, FilePlan)), &harm.unread)}
	in := check.Input{
		Scenario: scenario.Name, Contract: promise, Operations: planned.all,
		Events:  watched(history.Scan(filepath.Join(dir, FileHistory)), &harm.unread),
		Rows:    func() (evidence.Set, *evidence.Replays, string) { return harm.evidence(reading, run) },
		Claimed: scenario.Invariants, Limits: check.Limits{Recovery: cmp.Or(promise.Recovery, scenario.Settle.Within), Loss: scenario.Loss()},
	}
	check.JudgeRun(in, &run)
	run.Verdict.Gates = check.JudgeGates(scenario.Gates, run.Latency)
	run.Verdict.Doubts = append(run.Verdict.Doubts, run.Doubts...)
	run.Verdict.Doubts = append(run.Verdict.Doubts, check.Unfelt(run)...)
	harm.plan(planned.digest, run)
	harm.tell(&run)
	run.Files, err = filesOf(dir)
	return run, err
}

// rows are what evidence.LoadPacked gives.
type rows struct {
	set     evidence.Set
	replays *evidence.Replays
}

// evidenceAhead begins to read the evidence, beside all else, and gives what waits for it.
func evidenceAhead(dir string) func() (rows, error) {
	read := sync.OnceValues(func() (r rows, err error) {
		r.set, r.replays, err = evidence.LoadPacked(filepath.Join(dir, FileEvidence))
		return r, err
	})
	go func() { _, _ = read() }() // what it gives is kept for who asks
	return read
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

// watched keeps the gravest error that ends a reading.
func watched[T any](items iter.Seq2[T, error], unread *error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range items {
			if err != nil && !errors.Is(*unread, history.ErrCorrupt) {
				*unread = err
			}
			if !yield(item, err) {
				return
			}
		}
	}
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
