package fault

import "github.com/idemstorm/idemstorm/harness/pgwire"

// commitAckLost makes commits ambiguous: the database has committed, and the server cannot know it.
var commitAckLost = Kind{
	Name:   "commit-ack-lost",
	Story:  "for a share of transactions the commit reaches the database, and the connection is cut before its answer",
	Sees:   "503 or 500 for a request that was executed; 409 in-flight or a replay on retry",
	Holds:  "the record is not marked failed over a commit; nothing is run again on an unknown outcome",
	On:     anyPath,
	Wire:   true,
	Strike: onStatements(`^\s*(commit|end)\b`, func(Spec) pgwire.Action { return pgwire.Action{Verb: pgwire.CutAfter} }),
	Check:  checkStatement,
}
