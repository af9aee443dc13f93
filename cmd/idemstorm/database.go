package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/target/idempotency"
	"github.com/idemstorm/idemstorm/target/zoo"
)

// connectTime bounds how long a command tries to reach the database.
const connectTime = 10 * time.Second

// dsnFlag gives a command --dsn, with DATABASE_URL as its default. Read it by databaseURL.
func dsnFlag(cmd *cobra.Command, dsn *string) {
	cmd.Flags().StringVar(dsn, "dsn", "", "PostgreSQL address (default $DATABASE_URL)")
}

func databaseURL(flag string) (string, error) {
	if flag == "" {
		flag = os.Getenv("DATABASE_URL")
	}
	if flag == "" {
		return "", exitWith(exitUsage, errors.New("no database: set DATABASE_URL or --dsn"))
	}
	return flag, nil
}

// withPool connects for the time of one command.
func withPool(ctx context.Context, flag string, use func(*pgxpool.Pool) error) error {
	dsn, err := databaseURL(flag)
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return exitWith(exitUsage, fmt.Errorf("read the database's address: %w", err))
	}
	defer pool.Close()
	reach, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	if err := pool.Ping(reach); err != nil {
		return exitWith(exitUnreachable, fmt.Errorf("reach the database: %w", err))
	}
	return exitWith(exitUnreachable, use(pool))
}

// variantParts returns the parts that a command works with, the reference's for "".
func variantParts(name string, pool *pgxpool.Pool) (idempotency.Parts, error) {
	parts := idempotency.Reference(pool, pool, 0)
	if name == "" {
		return parts, nil
	}
	v, err := zoo.Find(name)
	if err != nil {
		return parts, exitWith(exitUsage, err)
	}
	return v.Parts(parts), nil
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}
