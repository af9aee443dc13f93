package fault

import "github.com/idemstorm/idemstorm/harness/pgwire"

// refuse is a database that is not there: every connection is reset, and every new one at once.
var refuse = Kind{
	Name:   "path-refuse",
	Story:  "connections are reset and new ones refused at once",
	Sees:   "503 on money routes, at once; tier 2 goes on without dedup while only the store is refused; 503 everywhere when the handlers' path is refused too",
	Holds:  "tier 1 executes nothing; tier 2 proceeds; no key is used up for good",
	Total:  true,
	On:     anyPath,
	Strike: onPath(func(Spec) pgwire.Link { return pgwire.Link{State: pgwire.Refuse} }),
}
