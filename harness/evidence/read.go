package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// closeWithin bounds the goodbye to the database after a read, whose own context may be over by then.
const closeWithin = 5 * time.Second

// Read runs every query that q names against the database at dsn, in one REPEATABLE READ READ ONLY transaction, so that all
// rows are of one moment. It fills Closing, Orders, Audits, Replays and Records; what q does not name stays nil.
func Read(ctx context.Context, dsn string, q Queries) (Set, error) {
	set := Set{Schema: Schema}
	err := snapshot(ctx, dsn, func(tx pgx.Tx) error { return set.fill(ctx, tx, q) })
	return set, err
}

// ReadAccounts runs only the account and position queries: the opening balances, before the first request.
func ReadAccounts(ctx context.Context, dsn string, q Queries) (accounts []Account, err error) {
	err = snapshot(ctx, dsn, func(tx pgx.Tx) error {
		accounts, err = readAccounts(ctx, tx, q)
		return err
	})
	return accounts, err
}

func (s *Set) fill(ctx context.Context, tx pgx.Tx, q Queries) (err error) {
	if s.Closing, err = readAccounts(ctx, tx, q); err != nil {
		return err
	}
	if s.Orders, err = orderTable.read(ctx, tx, q.Orders); err != nil {
		return err
	}
	if s.Audits, err = auditTable.read(ctx, tx, q.Audits); err != nil {
		return err
	}
	if s.Replays, err = replayTable.read(ctx, tx, q.Replays); err != nil {
		return err
	}
	s.Records, err = recordTable.read(ctx, tx, q.Records)
	return err
}

// readAccounts joins balances and holdings. Without a positions query Positions stays nil for every account, which says that
// holdings were not looked at; with one, an account without holdings has an empty map.
func readAccounts(ctx context.Context, tx pgx.Tx, q Queries) ([]Account, error) {
	accounts, err := accountTable.read(ctx, tx, q.Accounts)
	if err != nil || accounts == nil {
		return nil, err
	}
	holdings, err := positionTable.read(ctx, tx, q.Positions)
	if err != nil || holdings == nil {
		return accounts, err
	}
	at := make(map[int64]int, len(accounts))
	for i := range accounts {
		accounts[i].Positions = map[string]int64{}
		at[accounts[i].User] = i
	}
	for _, h := range holdings {
		if i, ok := at[h.user]; ok && h.quantity != 0 {
			accounts[i].Positions[h.symbol] += h.quantity
		}
	}
	return accounts, nil
}

// snapshot runs read inside one read-only snapshot on a connection of its own.
func snapshot(ctx context.Context, dsn string, read func(pgx.Tx) error) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("read evidence: %w", err)
	}
	config.RuntimeParams["timezone"] = "UTC" // so that every timestamp reads as +00
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("read evidence: %w", err)
	}
	defer hangUp(ctx, conn)
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	if err := pgx.BeginTxFunc(ctx, conn, options, read); err != nil {
		return fmt.Errorf("read evidence: %w", err)
	}
	return nil
}

func hangUp(ctx context.Context, conn *pgx.Conn) {
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	_ = conn.Close(bye) // everything was read; a failing goodbye changes nothing
}
