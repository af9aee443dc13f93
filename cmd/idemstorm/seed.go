package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/target/orderserver"
)

func newSeedCommand() *cobra.Command {
	var (
		dsn  string
		spec orderserver.SeedSpec
	)
	cmd := &cobra.Command{
		Use: "seed", Short: "Fill a freshly migrated database with users, sessions and positions", Args: cobra.NoArgs,
		Long: `Seed fills the reference server's database and prints the users with their session tokens as JSON. A database that holds users
already is left alone.`,
		Example: `  idemstorm seed --users 100 --dsn postgres://localhost/orders > users.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := databaseURL(dsn)
			if err != nil {
				return err
			}
			reach, cancel := context.WithTimeout(cmd.Context(), connectTime)
			defer cancel()
			conn, err := pgx.Connect(reach, url)
			if err != nil {
				return exitWith(exitUnreachable, fmt.Errorf("reach the database: %w", err))
			}
			result, err := orderserver.Seed(cmd.Context(), conn, spec)
			if errors.Is(err, orderserver.ErrNotEmpty) {
				err = exitWith(exitUsage, err)
			}
			if err := errors.Join(err, conn.Close(cmd.Context())); err != nil {
				return exitWith(exitUnreachable, err)
			}
			return printJSON(cmd.OutOrStdout(), result)
		},
	}
	dsnFlag(cmd, &dsn)
	flags := cmd.Flags()
	flags.IntVar(&spec.Users, "users", 10, "number of users")
	flags.IntVar(&spec.Positions, "positions", 10, "positions of each user")
	flags.StringVar(&spec.Cash, "cash", "1000000.00", "cash balance of each user")
	flags.Uint64Var(&spec.Seed, "seed", 1, "makes the session tokens")
	return cmd
}
