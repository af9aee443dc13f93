// Command orders is a small order service that guards POST /orders with Fiber's idempotency middleware, in three set-ups:
//
//	memory          the middleware's defaults: storage and lock in this process
//	shared-storage  responses in Redis, by gofiber/storage; the lock is the default
//	shared-lock     responses in Redis, and the lock in PostgreSQL, so that processes exclude one another
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/idempotency"
	"github.com/gofiber/storage/redis/v3"
	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	if len(os.Args) > 1 && os.Args[1] == "prepare" {
		return prepare(context.Background())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer db.Close()
	guard, err := middleware(os.Getenv("SETUP"), os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	app := fiber.New(fiber.Config{ErrorHandler: answerError})
	app.Get("/healthz", func(c fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	app.Use(guard)
	app.Post("/orders", orders{db}.place)
	return app.Listen("127.0.0.1:"+os.Getenv("PORT"), fiber.ListenConfig{
		DisableStartupMessage: true, GracefulContext: ctx, ShutdownTimeout: 5 * time.Second,
	})
}

var errNoRedis = errors.New("DISPOSABLE_REDIS_URL: missing; start a redis-server that may be emptied and set it, such as redis://127.0.0.1:6399")

// middleware is Fiber's, in one of the set-ups.
func middleware(setup, databaseURL string) (fiber.Handler, error) {
	if setup == "memory" {
		return idempotency.New(), nil
	}
	url := os.Getenv("DISPOSABLE_REDIS_URL")
	if url == "" {
		return nil, errNoRedis
	}
	config := idempotency.Config{Storage: redis.New(redis.Config{URL: url})}
	switch setup {
	case "shared-storage":
	case "shared-lock":
		lock, err := newAdvisoryLock(databaseURL)
		if err != nil {
			return nil, err
		}
		config.Lock = lock
	default:
		return nil, fmt.Errorf("SETUP: %q is none of memory, shared-storage, shared-lock", setup)
	}
	return idempotency.New(config), nil
}

// answerError tells clients a wrong key from a failure of ours; Fiber's own handler answers 500 to both.
func answerError(c fiber.Ctx, err error) error {
	if errors.Is(err, idempotency.ErrInvalidIdempotencyKey) {
		return c.Status(fiber.StatusBadRequest).JSON(fiber.Map{"error": "X-Idempotency-Key must be a UUID"})
	}
	log.Print(err)
	return c.Status(fiber.StatusInternalServerError).JSON(fiber.Map{"error": "try again"})
}
