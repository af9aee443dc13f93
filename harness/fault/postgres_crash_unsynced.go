package fault

import (
	"context"
	"errors"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
)

// unsynced are the settings under which a commit is acknowledged before it is on the disk, and nothing else brings it there by the way.
var unsynced = map[string]string{"synchronous_commit": "off", "bgwriter_lru_maxpages": "0", "checkpoint_timeout": "1d"}

// crashUnsynced loses what synchronous_commit=off may lose, for certain: a SIGKILL leaves what the kernel has, and the log's writer, which hands over
// each full page of 8 kB, stands still for the time of lag. So commits of that time are in the server's memory alone, as they are for up to
// three times wal_writer_delay otherwise.
var crashUnsynced = Kind{
	Name:  "postgres-crash-unsynced",
	Story: "commits are acknowledged without being written (synchronous_commit=off) for a while (lag), every process of the database server is killed, and it recovers when the fault ends",
	Sees:  "503 until it has recovered; an acknowledged order that is gone",
	Holds: "only what was acknowledged within lag of the kill is lost, from the end backwards, each listed; no key that is left runs again",
	Total: true,
	On:    onlyPostgres,
	Check: func(s Spec) error {
		if s.Lag == 0 {
			return errors.New("lag: it says for how long commits are only in memory before the kill; 0 would lose nothing")
		}
		return checkLag(s)
	},
	Strike: func(s Spec, w World) (Strike, error) {
		if w.Postgres == nil || w.Note == nil {
			return nil, errors.New("postgres: a server given by --dsn is not ours to strike")
		}
		u := careless{w.Postgres}
		return &crashStrike{kind: s.Kind, lag: s.Lag, world: w, weaken: u.begin, relent: u.stop, revive: u.restart}, nil
	},
}

// careless is a cluster that acknowledges what it has not written.
type careless struct{ *pgcluster.Cluster }

func (c careless) begin(ctx context.Context) error {
	if err := c.AlterSystem(ctx, unsynced); err != nil {
		return err
	}
	return c.Hold(ctx, pgcluster.WALWriter)
}

func (c careless) stop(ctx context.Context) error {
	return errors.Join(c.Resume(), c.reset(ctx))
}

func (c careless) restart(ctx context.Context) error {
	if err := c.Restart(ctx); err != nil {
		return err
	}
	return c.reset(ctx)
}

func (c careless) reset(ctx context.Context) error {
	var names []string
	for name := range unsynced {
		names = append(names, name)
	}
	return c.ResetSystem(ctx, names...)
}
