package main

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

func newEraseCommand() *cobra.Command {
	var (
		dsn, variant string
		user         int32
	)
	cmd := &cobra.Command{
		Use: "erase --user N", Short: "Erase a user: account, sessions and every idempotency record", Args: cobra.NoArgs,
		Long: `Erase removes a user of the reference server for good, with every idempotency record, also one in flight: the request that made it cannot
commit any more. This cannot be undone.`,
		Example: `  idemstorm erase --user 7 --dsn postgres://localhost/orders`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPool(cmd.Context(), dsn, func(pool *pgxpool.Pool) error {
				parts, err := variantParts(variant, pool)
				if err != nil {
					return err
				}
				n, err := orderserver.Erase(cmd.Context(), pool, parts.Eraser, user)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "erase: user %d gone, with %d records\n", user, n)
				return err
			})
		},
	}
	dsnFlag(cmd, &dsn)
	cmd.Flags().StringVar(&variant, "variant", "", "erase as this broken variant does (default: the reference)")
	userFlag(cmd, &user)
	return cmd
}

// userFlag gives a command --user, which it then requires.
func userFlag(cmd *cobra.Command, user *int32) {
	cmd.Flags().Int32Var(user, "user", 0, "id of the user")
	if err := cmd.MarkFlagRequired("user"); err != nil {
		panic(err) // the flag is defined in the line before
	}
}
