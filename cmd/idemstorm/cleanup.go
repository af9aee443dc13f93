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
	cmd.Flags().StringVar(&variant, "variant", "", "clean up as this broken variant does")
	return cmd
}
