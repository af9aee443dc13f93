package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"

	"github.com/gofiber/storage/redis/v3"
	"github.com/jackc/pgx/v5"
)

//go:embed schema.sql
var schema string

// prepare makes the tables and empties Redis: the keys of an earlier run would be answered with orders of its database, which is gone.
func prepare(ctx context.Context) error {
	db, err := pgx.Connect(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer db.Close(ctx)
	if _, err := db.Exec(ctx, schema); err != nil {
		return fmt.Errorf("schema.sql: %w", err)
	}
	url := os.Getenv("DISPOSABLE_REDIS_URL")
	if url == "" {
		return errNoRedis
	}
	store := redis.New(redis.Config{URL: url})
	defer store.Close()
	return store.ResetWithContext(ctx)
}
