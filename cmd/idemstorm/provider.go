package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/harness/provider"
)

func newProviderCommand() *cobra.Command {
	var options provider.Options
	var delay time.Duration
	cmd := &cobra.Command{
		Use:   "serve-provider",
		Short: "Run the simulated payment provider",
		Long: `Serve-provider runs the payment provider that the bundled server's checkout calls. Its ledger, ledger.jsonl in --dir, is durable;
PUT /v1/behaviour changes delay and failures while it runs, GET /v1/charges shows the ledger.`,
		Example: `  idemstorm serve-provider --addr 127.0.0.1:8090 --dir ledger
  idemstorm serve-provider --dir ledger --delay 200ms --fail-every 10 --fail-after-acting`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Behaviour.DelayMillis = delay.Milliseconds()
			return serveProvider(cmd, options)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options.Dir, "dir", "provider", "folder of the ledger, created if missing")
	flags.StringVar(&options.Addr, "addr", "127.0.0.1:8090", "address to listen on; port 0 takes a free one")
	flags.DurationVar(&delay, "delay", 0, "how long a charge takes (default: no time)")
	flags.IntVar(&options.Behaviour.FailEvery, "fail-every", 0, "answer every n-th charge with 500 (default: none)")
	flags.Float64Var(&options.Behaviour.FailRate, "fail-rate", 0, "answer this share of charges, 0 to 1, with 500 (default: none)")
	flags.Uint64Var(&options.Behaviour.Seed, "seed", 0, "seed of --fail-rate (default 0)")
	flags.BoolVar(&options.Behaviour.FailAfterActing, "fail-after-acting", false, "charge first, then fail")
	flags.BoolVar(&options.Behaviour.NoDedup, "no-dedup", false, "ignore the Idempotency-Key")
	return cmd
}

// serveProvider prints the address and runs until the command's context ends.
func serveProvider(cmd *cobra.Command, options provider.Options) error {
	p, err := provider.Start(cmd.Context(), options)
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), p.URL())
	<-cmd.Context().Done()
	return p.Close()
}
