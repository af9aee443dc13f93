package main

import "github.com/spf13/cobra"

func newBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what at-most-once costs",
		Long: `Bench measures with repeated, interleaved runs, and says of a difference only what is outside the noise that the same run shows.
What the server, the driver and the checker cost against their peers, the scripts under docs/bench measure.`,
		Example: `  idemstorm bench claim
  idemstorm bench explorer`,
	}
	cmd.AddCommand(newBenchClaimCommand(), newBenchExplorerCommand())
	return cmd
}
