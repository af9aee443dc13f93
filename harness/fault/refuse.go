package fault

import "github.com/idemstorm/idemstorm/harness/pgwire"

// refuse is a database that is not there: every connection is reset, and every new one at once.
var refuse = Kind{
	Name:   "path-refuse",
	Story:  "connections are reset and new ones refused at once",
	Total:  true,
	On:     anyPath,
	Strike: onPath(func(Spec) pgwire.Link { return pgwire.Link{State: pgwire.Refuse} }),
}
