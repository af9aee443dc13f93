package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
)

// benchComparison is what `compare` can be told about two benchmarks.
type benchComparison struct {
	p99, throughput string
	json            bool
}

func (f *benchComparison) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.p99, "max-p99-regression", "", "fail when a strategy's winners' p99 has grown by more than this, such as 10% (default: no gate)")
	flags.StringVar(&f.throughput, "max-throughput-regression", "", "fail when a strategy's keys a second have shrunk by more than this, such as 5% (default: no gate)")
	flags.BoolVar(&f.json, "json", false, "print the comparison as JSON")
}

func (f *benchComparison) limits() (l bench.Limits, err error) {
	if l.P99, err = share("max-p99-regression", f.p99, 10); err != nil {
		return l, err
	}
	l.Throughput, err = share("max-throughput-regression", f.throughput, 0.99)
	return l, err
}

// share reads "10%" or "0.1"; "" is nil.
func share(flag, text string, most float64) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= most) { // NaN is neither
		return nil, fmt.Errorf("--%s: %q is no share between 0%% and %.0f%%, such as 10%%", flag, text, 100*most)
	}
	return &v, nil
}

func compareBenches(stdout io.Writer, before, after string, f benchComparison) error {
	limits, err := f.limits()
	if err != nil {
		return exitWith(exitUsage, err)
	}
	a, errA := bench.Load(before)
	b, errB := bench.Load(after)
	if err := errors.Join(errA, errB); err != nil {
		return exitWith(exitUsage, err)
	}
	c := bench.Compare(a, b, limits)
	if len(c.Changes) == 0 {
		return exitWith(exitUsage, fmt.Errorf("compare: %s and %s have no cell in common; measure the same grid twice", before, after))
	}
	if f.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(c)
	} else {
		err = reports.WriteBenchComparison(stdout, terminal(), c)
	}
	if err != nil {
		return err
	}
	return compareExit(c)
}

// compareExit is nil when every gate was met.
func compareExit(c bench.Comparison) error {
	switch judged, worst := c.Gated(); {
	case !judged:
		return nil
	case worst == verdict.Violated:
		return exitWith(verdict.ExitGate, errShown)
	case worst == verdict.Inconclusive:
		return exitWith(verdict.ExitInconclusive, errShown)
	}
	return nil
}
