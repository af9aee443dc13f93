package main

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

func newExportCommand() *cobra.Command {
	var (
		dsn  string
		user int32
	)
	cmd := &cobra.Command{
		Use: "export --user N", Short: "Print a user's idempotency records as JSON", Args: cobra.NoArgs,
		Long: `Export prints everything that the key store holds about a user of the reference server, for those who ask for what is stored
about them.`,
		Example: `  idemstorm export --user 7 --dsn postgres://localhost/orders > user-7.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPool(cmd.Context(), dsn, func(pool *pgxpool.Pool) error {
				records, err := orderserver.Export(cmd.Context(), pool, user)
				if err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), records)
			})
		},
	}
	dsnFlag(cmd, &dsn)
	userFlag(cmd, &user)
	return cmd
}
