package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// Flags of `compare` that have a meaning for one kind of result only.
var (
	ofRuns    = []string{"out", "noise", "same"}
	ofBenches = []string{"max-p99-regression", "max-throughput-regression", "json"}
)

func newCompareCommand() *cobra.Command {
	var runs runComparison
	var benches benchComparison
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Say what got better or worse from one run or benchmark to another, outside the noise",
		Long: `Compare judges two run directories, or two folders of them, anew from their files, and says which invariants changed, and which latencies
differ by more than the noise. What lies within it is called "cannot tell", never "same".
Of two benchmarks (idemstorm bench claim) it pairs the runs of every cell and shows how throughput and the winners' p99 have changed, with the
95 % interval and the noise floor of both; a gate makes a change fail.

Exit codes: 0 nothing is worse in the second, every gate was met · 1 an invariant is newly violated · 2 usage · 4 a latency is worse, a gate failed ·
5 something is known no more, a gate had too little data.`,
		Example: `  idemstorm compare runs/monday/retry-storm runs/today/retry-storm
  idemstorm compare runs/monday runs/today --out runs/today
  idemstorm compare runs/main-1 runs/branch --same runs/main-2
  idemstorm compare bench/before bench/after --max-p99-regression 10% --max-throughput-regression 5%`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.ContainsFunc(args, isBench) {
				if err := refuseFlags(cmd, ofBenches, "is for two benchmarks, and these are runs"); err != nil {
					return err
				}
				return compareRuns(cmd.OutOrStdout(), runs, args[0], args[1])
			}
			if err := refuseFlags(cmd, ofRuns, "is for two runs, and these are benchmarks"); err != nil {
				return err
			}
			return compareBenches(cmd.OutOrStdout(), args[0], args[1], benches)
		},
	}
	runs.register(cmd)
	benches.register(cmd)
	return cmd
}

// refuseFlags refuses a flag that would have no meaning.
func refuseFlags(cmd *cobra.Command, names []string, why string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return exitWith(exitUsage, fmt.Errorf("--%s: it %s; leave it away", name, why))
		}
	}
	return nil
}

// isBench says whether a folder holds a benchmark's results.
func isBench(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, bench.File))
	return err == nil
}
