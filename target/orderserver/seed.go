package orderserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// SeedSpec says what a fresh database is filled with.
type SeedSpec struct {
	// Users are made with ids from 1; each has Positions positions, P0001 and so on, of ten pieces.
	Users, Positions int
	// Cash is every user's balance, a decimal with two places.
	Cash string
	// Seed makes the tokens: the same seed, the same tokens.
	Seed uint64
}

// SeedResult is what a client needs to act as the users. It holds tokens, which the database does not.
type SeedResult struct {
	Users        []SeedUser `json:"users"`
	ServiceToken string     `json:"service_token"`
}

// SeedUser is one user, with session and positions.
type SeedUser struct {
	ID        int32   `json:"id"`
	Token     string  `json:"token"`
	Positions []int64 `json:"positions"`
}

// ErrNotEmpty says that the database has users already.
var ErrNotEmpty = errors.New("there are users already: seed wants a freshly migrated database")

// Ordered inserts, so that ids follow the order of users and positions.
const (
	anyUserSQL   = `SELECT EXISTS (SELECT 1 FROM users)`
	seedUsersSQL = `
INSERT INTO users (email, name, phone)
SELECT 'u' || n || '@example.test', 'User ' || n, '+1555' || lpad(n::text, 7, '0')
FROM generate_series(1, $1::integer) n ORDER BY n`
	seedAccountsSQL  = `INSERT INTO accounts (user_id, cash_balance) SELECT id, $1::numeric FROM users ORDER BY id`
	seedPositionsSQL = `
INSERT INTO positions (user_id, symbol, quantity)
SELECT u.id, 'P' || lpad(n::text, 4, '0'), 10
FROM users u CROSS JOIN generate_series(1, $1::integer) n ORDER BY u.id, n`
	seededSQL = `
SELECT u.id, COALESCE(array_agg(p.id ORDER BY p.id) FILTER (WHERE p.id IS NOT NULL), '{}')
FROM users u LEFT JOIN positions p ON p.user_id = u.id
GROUP BY u.id ORDER BY u.id`
)

// Seed fills a freshly migrated database in one transaction.
func Seed(ctx context.Context, conn *pgx.Conn, spec SeedSpec) (result SeedResult, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := seedRows(ctx, tx, spec); err != nil {
			return err
		}
		if result, err = seeded(ctx, tx, spec.Seed); err != nil {
			return err
		}
		return seedSessions(ctx, tx, result)
	})
	if err != nil {
		return SeedResult{}, fmt.Errorf("seed: %w", err)
	}
	return result, nil
}

// seedRows writes by set, not by row: a hundred thousand positions in under a second.
func seedRows(ctx context.Context, tx pgx.Tx, spec SeedSpec) error {
	var taken bool
	if err := tx.QueryRow(ctx, anyUserSQL).Scan(&taken); err != nil {
		return fmt.Errorf("look for users: %w", err)
	}
	if taken {
		return ErrNotEmpty
	}
	b := &pgx.Batch{}
	b.Queue(seedUsersSQL, spec.Users)
	b.Queue(seedAccountsSQL, spec.Cash)
	b.Queue(seedPositionsSQL, spec.Positions)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("write users: %w", err)
	}
	return nil
}

// seeded reads the ids back rather than assuming them.
func seeded(ctx context.Context, tx pgx.Tx, seed uint64) (SeedResult, error) {
	result := SeedResult{Users: []SeedUser{}, ServiceToken: "st_svc_" + tokenTail(seed, 0)}
	rows, err := tx.Query(ctx, seededSQL)
	if err != nil {
		return result, fmt.Errorf("read users: %w", err)
	}
	result.Users, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (SeedUser, error) {
		var u SeedUser
		err := row.Scan(&u.ID, &u.Positions)
		u.Token = fmt.Sprintf("st_u%d_%s", u.ID, tokenTail(seed, u.ID))
		return u, err
	})
	if err != nil {
		return result, fmt.Errorf("read users: %w", err)
	}
	return result, nil
}

// tokenTail is a session's secret part. It is no secret from who knows the seed, which only test databases have.
func tokenTail(seed uint64, id int32) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "session %d of seed %d", id, seed))
	return hex.EncodeToString(sum[:16])
}

// sessionLife is long enough for any run, and not for ever.
const sessionLife = 30 * 24 * time.Hour

// seedSessions stores hashes alone; the tokens are in the result and nowhere else.
func seedSessions(ctx context.Context, tx pgx.Tx, result SeedResult) error {
	expires := time.Now().Add(sessionLife)
	rows := [][]any{{hashToken(result.ServiceToken), nil, expires}}
	for _, u := range result.Users {
		rows = append(rows, []any{hashToken(u.Token), u.ID, expires})
	}
	columns := []string{"token_hash", "user_id", "expires_at"}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"sessions"}, columns, pgx.CopyFromRows(rows)); err != nil {
		return fmt.Errorf("write sessions: %w", err)
	}
	return nil
}
