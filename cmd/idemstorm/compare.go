package main

import (
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

func newCompareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare DIR DIR",
		Short: "Say what got better or worse from one run to another, outside the noise",
		Long: `Compare judges two run directories, or two folders of them, anew from their files, and says which invariants changed, and which latencies
differ by more than the noise. What lies within it is called "cannot tell", never "same".

Exit codes: 0 nothing is worse in the second · 1 an invariant is newly violated · 2 usage · 4 a latency is worse · 5 something is known no more.`,
		Example: `  idemstorm compare runs/monday/retry-storm runs/today/retry-storm
  idemstorm compare runs/monday runs/today --out runs/today
  idemstorm compare runs/main-1 runs/branch --same runs/main-2`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return compareRuns(cmd.OutOrStdout(), f, args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "folder to write compare.html into as well (default: no page)")
	flags.Float64Var(&f.noise, "noise", verdict.Noise, "the least share by which two runs of one server are taken to differ; within it nothing is called a difference")
	flags.StringVar(&f.same, "same", "", "another run of the first server, or a folder of them: measures by how much two runs of it differ (default: the runs' own intervals)")
	return cmd
}
