package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/bench"
)

func newCompareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Hold a later result against an earlier one",
		Long: `Compare takes two folders of results. Of two benchmarks (idemstorm bench claim) it pairs the runs of every cell and shows how throughput and the
winners' p99 have changed, with the 95 % interval and the noise floor of both; a gate makes a change fail.

Exit codes: 0 every gate was met, or none was asked for · 2 usage · 4 a gate failed · 5 a gate had too little data.`,
		Example: `  idemstorm compare runs/before runs/after --max-p99-regression 10% --max-throughput-regression 5%`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case isBench(args[0]) && isBench(args[1]):
				return compareBenches(cmd.OutOrStdout(), args[0], args[1], f)
			}
			return exitWith(exitUsage, fmt.Errorf("compare: %s and %s are not two folders with a %s; idemstorm bench claim --out makes one",
				args[0], args[1], bench.File))
		},
	}
	f.register(cmd)
	return cmd
}

// isBench says whether a folder holds a benchmark's results.
func isBench(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, bench.File))
	return err == nil
}
