package fault

import "github.com/idemstorm/idemstorm/harness/pgwire"

// halfOpen lets statements through and holds the answers. Not total: the database acts on what it got.
var halfOpen = Kind{
	Name:   "path-half-open",
	Story:  "statements arrive, answers do not come back until it heals",
	Sees:   "503 after the deadline, over statements that were carried out",
	Holds:  "what the database did and the server never heard of is found again by its key",
	On:     anyPath,
	Strike: onPath(func(Spec) pgwire.Link { return pgwire.Link{Down: pgwire.Lane{Hold: true}} }),
}
