package idempotency

import (
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

// Strategy is one right way to decide who executes. All of them keep the contract's at-most-once; Promise says where one promises
// less than the contract does otherwise.
type Strategy struct {
	// Name is how serve --strategy and the reports call it.
	Name string
	// Story says how it decides.
	Story string
	// Promise says what it does otherwise than the contract; "" for nothing.
	Promise string
	// Ends says how a claim ends whose worker is gone.
	Ends Ending
	// Waits: who meets a claim in flight waits for its end, and not at all otherwise.
	Waits bool
	// Hides: who meets a claim in flight does not see of which request it is.
	Hides bool
	// Redis: it needs one beside the database.
	Redis bool
	// New makes its claimer.
	New func(Stores) Claimer
}

// Ending is how a claim ends whose worker is gone.
type Ending int

// The endings.
const (
	// ByRetirement: it is stale after a while, and one of those who meet it then retires it.
	ByRetirement Ending = iota
	// WithItsTransaction: the database ends it with the worker's connection.
	WithItsTransaction
	// WithItsLease: it ends by itself after a while.
	WithItsLease
)

// Stores are what a strategy keeps its claims in.
type Stores struct {
	Pool       *pgxpool.Pool
	Redis      *redis.Client // nil where none is configured
	StaleAfter time.Duration // never 0
}

const (
	endsWithWorker = "a claim ends with the worker that holds it, so that a retry after a crash executes at once, and no claim is ever stale"
	hidesBody      = "another body under a key that is in flight is answered as in flight, since the record is not to be seen yet"
)

// Strategies are all there are; the first is the reference's.
var Strategies = []Strategy{
	{
		Name:  "insert-first",
		Story: "one autocommitted insert decides; losers read the record",
		New:   func(s Stores) Claimer { return newInsertClaimer(s) },
	},
	{
		Name:  "insert-or-read",
		Story: "one autocommitted statement inserts, or reads the record that is in the way and writes the replay's audit row",
		New:   func(s Stores) Claimer { return &ReadingInsertClaimer{newInsertClaimer(s)} },
	},
	{
		Name:    "in-transaction",
		Story:   "the insert is part of the business transaction; losers wait for its end in the database",
		Promise: endsWithWorker + "; " + hidesBody,
		Ends:    WithItsTransaction,
		Waits:   true,
		Hides:   true,
		New:     func(s Stores) Claimer { return &TxClaimer{InsertClaimer: newInsertClaimer(s), Pool: s.Pool} },
	},
	{
		Name:    "row-lock",
		Story:   "the record is inserted first; the business transaction then locks it by SELECT … FOR UPDATE NOWAIT",
		Promise: endsWithWorker,
		Ends:    WithItsTransaction,
		New:     func(s Stores) Claimer { return &RowLockClaimer{InsertClaimer: newInsertClaimer(s), Pool: s.Pool} },
	},
	{
		Name:    "advisory-lock",
		Story:   "the business transaction takes an advisory lock of the key, or does not wait for it, and then inserts the record",
		Promise: endsWithWorker + "; " + hidesBody,
		Ends:    WithItsTransaction,
		Hides:   true,
		New:     func(s Stores) Claimer { return &AdvisoryLockClaimer{InsertClaimer: newInsertClaimer(s), Pool: s.Pool} },
	},
	{
		Name:  "serializable",
		Story: "a SERIALIZABLE transaction looks for the record and inserts it; of two that did so at once the database lets one commit",
		New:   func(s Stores) Claimer { return &SerializableClaimer{InsertClaimer: newInsertClaimer(s), Pool: s.Pool} },
	},
	{
		Name:    "redis",
		Story:   "SET NX in Redis decides; the database keeps what has ended, and its constraint lets one of two commit that Redis let in",
		Promise: endsWithWorker + ", or with the lock's life; a Redis that forgets lets two work at once, of which one commits",
		Ends:    WithItsLease,
		Redis:   true,
		New:     func(s Stores) Claimer { return &RedisClaimer{InsertClaimer: newInsertClaimer(s), Redis: s.Redis} },
	},
}

// FindStrategy returns a strategy by its name.
func FindStrategy(name string) (Strategy, error) {
	names := make([]string, 0, len(Strategies))
	for _, s := range Strategies {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Strategy{}, fmt.Errorf("no claim strategy %q; there are: %s", name, strings.Join(names, ", "))
}

func newInsertClaimer(s Stores) *InsertClaimer {
	return &InsertClaimer{Store: s.Pool, StaleAfter: s.StaleAfter}
}
