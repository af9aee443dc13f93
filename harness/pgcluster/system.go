package pgcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	setSystem    = `ALTER SYSTEM SET %s = '%s'`
	resetSystem  = `ALTER SYSTEM RESET %s`
	reloadSystem = `SELECT pg_reload_conf()`
)

// AlterSystem changes settings of the running server for every session, open ones included, from their next statement on. What was given in
// Options.Settings outweighs it; what needs a restart waits for one.
func (c *Cluster) AlterSystem(ctx context.Context, settings map[string]string) error {
	var statements []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := strings.ReplaceAll(settings[name], "'", "''")
		statements = append(statements, fmt.Sprintf(setSystem, pgx.Identifier{name}.Sanitize(), value))
	}
	return c.reload(ctx, statements)
}

// ResetSystem undoes AlterSystem.
func (c *Cluster) ResetSystem(ctx context.Context, names ...string) error {
	var statements []string
	for _, name := range names {
		statements = append(statements, fmt.Sprintf(resetSystem, pgx.Identifier{name}.Sanitize()))
	}
	return c.reload(ctx, statements)
}

func (c *Cluster) reload(ctx context.Context, statements []string) error {
	return c.withConnection(ctx, func(conn *pgx.Conn) error {
		for _, sql := range append(statements, reloadSystem) {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}
