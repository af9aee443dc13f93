package main

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/target/idempotency"
	"github.com/idemstorm/idemstorm/target/orderserver"
)

func newCleanupCommand() *cobra.Command {
	var dsn, variant string
	cmd := &cobra.Command{
		Use: "cleanup", Short: "Remove expired idempotency records; safe beside live traffic", Args: cobra.NoArgs,
		Long: `Cleanup removes the records whose time is over from the reference server's database, in batches with a rest
after each, and prints how many they were: a million take some minutes. It never removes a request that is in flight. The server does
the same by itself every night at 04:00 UTC.`,
		Example: `  idemstorm cleanup --dsn postgres://localhost/orders`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPool(cmd.Context(), dsn, func(pool *pgxpool.Pool) error {
				parts, err := variantParts(variant, pool)
				if err != nil {
					return err
				}
				n, err := idempotency.SweepAll(cmd.Context(), parts.Sweeper, pool, orderserver.SweepBatch)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "cleanup: %d expired records removed\n", n)
				return err
			})
		},
	}
	dsnFlag(cmd, &dsn)
	cmd.Flags().StringVar(&variant, "variant", "", "clean up as this broken variant does (default: the reference)")
	return cmd
}
