package fault

import "github.com/idemstorm/idemstorm/harness/pgwire"

// reset cuts in mid-statement: the statement reaches the database, its answer does not come back. Not total: what was sent may act.
var reset = Kind{
	Name:   "path-reset",
	Story:  "a connection is reset after its statement was forwarded: the database acts, the answer is lost",
	Sees:   "503 or a lost answer, over work that may have been done",
	Holds:  "a reset after the COMMIT was forwarded is no failure: the key replays, or reads as previous-failed with nothing executed",
	On:     anyPath,
	Strike: onPath(func(Spec) pgwire.Link { return pgwire.Link{State: pgwire.ResetBusy} }),
}
