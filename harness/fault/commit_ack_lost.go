package fault

import "github.com/idemstorm/idemstorm/harness/pgwire"

// commitAckLost makes commits ambiguous: the database has committed, and the server cannot know it.
var commitAckLost = Kind{
	Name:   "commit-ack-lost",
	Story:  "for a share of transactions the commit reaches the database, and the connection is cut before its answer",
	On:     anyPath,
	Wire:   true,
	Strike: onStatements(`^\s*(commit|end)\b`, func(Spec) pgwire.Action { return pgwire.Action{Verb: pgwire.CutAfter} }),
	Check:  checkStatement,
}
