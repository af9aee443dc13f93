package fault

import (
	"context"
	"errors"
)

// pgbouncerKill is a crash of the connection pooler. The database server is well, and nobody gets there.
var pgbouncerKill = Kind{
	Name:  "pgbouncer-kill",
	Story: "pgbouncer is killed, with every connection through it, and started again when the fault ends",
	Sees:  "503 until it is back; connections reset",
	Holds: "an order is whole or absent; nothing acknowledged is lost",
	Total: true,
	On:    []Target{Pooler},
	Check: checkWhole,
	Strike: func(_ Spec, w World) (Strike, error) {
		if w.Bouncer == nil {
			return nil, errors.New("pgbouncer: this run has none; set subject.pgbouncer: true")
		}
		return &service{stop: func(context.Context) error { return w.Bouncer.Kill() }, start: w.Bouncer.Start}, nil
	},
}
