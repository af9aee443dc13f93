// Package migrations holds the numbered SQL of the reference server's schema, embedded, each step with its way up and
// its way down, and runs it with goose. It is the first stage a database goes through; nothing else creates tables.
// The table of contract section 2 is step 60; what it refers to has lower numbers.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the "pgx" driver with database/sql
	"github.com/pressly/goose/v3"
)

//go:embed *.sql
var files embed.FS

// State says of one migration whether a database has it.
type State struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

// Up applies every migration that the database at dsn does not have yet and returns how many that were.
func Up(ctx context.Context, dsn string) (int, error) {
	return migrate(dsn, "up", func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.Up(ctx) })
}

// Down undoes every migration of the database at dsn, the last first, and returns how many that were.
func Down(ctx context.Context, dsn string) (int, error) {
	return migrate(dsn, "down", func(p *goose.Provider) ([]*goose.MigrationResult, error) { return p.DownTo(ctx, 0) })
}

// Status lists all migrations in order, and which of them the database at dsn has.
func Status(ctx context.Context, dsn string) (states []State, err error) {
	err = withProvider(dsn, func(p *goose.Provider) error {
		list, err := p.Status(ctx)
		if err != nil {
			return fmt.Errorf("read migration status: %w", err)
		}
		for _, s := range list {
			states = append(states, State{Version: s.Source.Version, Name: s.Source.Path, Applied: s.State == goose.StateApplied})
		}
		return nil
	})
	return states, err
}

func migrate(dsn, direction string, run func(*goose.Provider) ([]*goose.MigrationResult, error)) (n int, err error) {
	err = withProvider(dsn, func(p *goose.Provider) error {
		results, err := run(p)
		if err != nil {
			return fmt.Errorf("migrate %s: %w", direction, err)
		}
		n = len(results)
		return nil
	})
	return n, err
}

func withProvider(dsn string, use func(*goose.Provider) error) (err error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return fmt.Errorf("open database for migrations: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return use(provider)
}
