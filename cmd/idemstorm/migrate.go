package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/migrations"
)

func newMigrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "migrate", Short: "Bring the reference server's schema up or down",
		Long: `Migrate changes the tables of the reference server's database, by the numbered migrations that the program carries. Scenarios
do this by themselves, in a database of their own.`,
		Example: `  idemstorm migrate up --dsn postgres://localhost/orders
  idemstorm migrate status --dsn postgres://localhost/orders`,
	}
	cmd.AddCommand(
		newMigrateStep("up", "Apply every migration that is missing", "What is there stays; a second call changes nothing.", migrations.Up),
		newMigrateStep("down", "Undo every migration", "The reference server's tables are dropped, with all that is in them.", migrations.Down),
		newMigrateStatus(),
	)
	return cmd
}

func newMigrateStep(name, short, more string, step func(context.Context, string) (int, error)) *cobra.Command {
	var dsn string
	cmd := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		Long:    short + ", and print how many they were. " + more,
		Example: "  idemstorm migrate " + name + " --dsn postgres://localhost/orders",
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := databaseURL(dsn)
			if err != nil {
				return err
			}
			n, err := step(cmd.Context(), url)
			if err != nil {
				return exitWith(exitUnreachable, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d migrations\n", name, n)
			return err
		},
	}
	dsnFlag(cmd, &dsn)
	return cmd
}

func newMigrateStatus() *cobra.Command {
	var (
		dsn    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use: "status", Short: "Say which migrations the database has", Args: cobra.NoArgs,
		Long:    "Status lists the migrations that the program carries, and says of each whether the database has it. It changes nothing.",
		Example: "  idemstorm migrate status --dsn postgres://localhost/orders",
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := databaseURL(dsn)
			if err != nil {
				return err
			}
			states, err := migrations.Status(cmd.Context(), url)
			if err != nil {
				return exitWith(exitUnreachable, err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), states)
			}
			for _, s := range states {
				mark := "-"
				if s.Applied {
					mark = "applied"
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%04d  %-8s %s\n", s.Version, mark, s.Name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	dsnFlag(cmd, &dsn)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
