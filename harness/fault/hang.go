package fault

import "github.com/idemstorm/idemstorm/harness/pgwire"

// hang drops silently: nothing is refused and nothing answers, as behind a dead switch.
var hang = Kind{
	Name:   "path-hang",
	Story:  "bytes vanish in both directions; connections stay open and silent",
	Sees:   "503 after the server's own deadline, never later",
	Holds:  "every wait has a bound; tier 1 executes nothing; the pools serve again as soon as bytes flow",
	Total:  true,
	On:     anyPath,
	Strike: onPath(func(Spec) pgwire.Link { return pgwire.Link{State: pgwire.Hang} }),
}
