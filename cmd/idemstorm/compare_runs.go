package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
)

// runComparison is what `compare` can be told about two runs.
type runComparison struct {
	out, same string
	noise     float64
}

func (f *runComparison) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "folder to write compare.html into as well (default: no page)")
	flags.Float64Var(&f.noise, "noise", verdict.Noise, "the least share by which two runs of one server are taken to differ; within it nothing is called a difference")
	flags.StringVar(&f.same, "same", "", "another run of the first server, or a folder of them: measures by how much two runs of it differ (default: the runs' own intervals)")
}

// compareRuns compares two run directories, or the runs of the same name in two folders.
func compareRuns(stdout io.Writer, f runComparison, a, b string) error {
	if f.noise < 0 || f.noise > 10 {
		return exitWith(verdict.ExitUsage, fmt.Errorf("--noise: %g is not a share between 0 and 10", f.noise))
	}
	pairs, err := pairsOf(a, b)
	if err != nil {
		return exitWith(verdict.ExitUsage, err)
	}
	var list []verdict.Comparison
	for _, p := range pairs {
		c, err := f.pair(p[0], p[1])
		if err != nil {
			return exitWith(verdict.ExitUsage, err)
		}
		list = append(list, c)
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return fmt.Errorf("make the folder for %s: %w", reports.CompareFile, err)
		}
		if err := reports.SaveComparison(f.out, list); err != nil {
			return err
		}
	}
	if err := reports.WriteComparisonText(stdout, terminal(), list); err != nil {
		return err
	}
	if code := reports.CompareExit(list); code != verdict.ExitHeld {
		return exitWith(code, errShown)
	}
	return nil
}

// pairsOf finds the run directories to compare.
func pairsOf(a, b string) (pairs [][2]string, err error) {
	if isRun(a) && isRun(b) {
		return [][2]string{{a, b}}, nil
	}
	entries, err := os.ReadDir(b)
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	for _, e := range entries {
		if x, y := filepath.Join(a, e.Name()), filepath.Join(b, e.Name()); isRun(x) && isRun(y) {
			pairs = append(pairs, [2]string{x, y})
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("compare: %s and %s are neither two run directories nor folders that hold runs of the same names; name two directories with a %s", a, b, verdict.File)
	}
	return pairs, nil
}

func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, verdict.File))
	return err == nil
}

func (f runComparison) pair(a, b string) (verdict.Comparison, error) {
	x, errA := side(a)
	y, errB := side(b)
	if err := errors.Join(errA, errB); err != nil {
		return verdict.Comparison{}, err
	}
	if x.Run.Scenario != y.Run.Scenario {
		return verdict.Comparison{}, fmt.Errorf("compare: %s ran %s and %s ran %s; only runs of one scenario can be compared", a, x.Run.Scenario, b, y.Run.Scenario)
	}
	same, err := f.twin(filepath.Base(a), x.Run)
	if err != nil {
		return verdict.Comparison{}, err
	}
	return verdict.Compare(x, y, same, f.noise), nil
}

// twin is the other run of A's server that the noise is measured with: of --same itself, or of the folder in it that is named as A's.
func (f runComparison) twin(name string, a verdict.Run) (*verdict.Side, error) {
	if f.same == "" {
		return nil, nil
	}
	dir := f.same
	if !isRun(dir) {
		dir = filepath.Join(dir, name)
	}
	s, err := side(dir)
	if err != nil {
		return nil, fmt.Errorf("--same: %w", err)
	}
	if s.Run.Scenario != a.Scenario || s.Run.Subject != a.Subject {
		return nil, fmt.Errorf("--same: %s is a run of %s on %s, and A one of %s on %s; the noise is measured with two runs of the same", dir, s.Run.Scenario, s.Run.Subject, a.Scenario, a.Subject)
	}
	return &s, nil
}

// side judges a run anew. Latencies that cannot be read are no error: the comparison says so.
func side(dir string) (verdict.Side, error) {
	run, err := harness.Judge(dir)
	if err != nil {
		return verdict.Side{}, err
	}
	s := verdict.Side{Name: dir, Run: run}
	if set, err := latency.ReadLog(filepath.Join(dir, harness.FileLatency)); err == nil && harness.Intact(dir, run, harness.FileLatency) {
		s.Latency = set
	}
	return s, nil
}
