package fault

import (
	"errors"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// statementDelay widens the gap before a chosen statement.
var statementDelay = Kind{
	Name:   "statement-delay",
	Story:  "a share of the statements that match reach the database late by delay, and up to jitter on top",
	Sees:   "later answers; 409 in-flight for duplicates meanwhile",
	Holds:  "duplicates never wait for the first and never overtake it",
	On:     anyPath,
	Wire:   true,
	Strike: onStatements("", func(s Spec) pgwire.Action { return pgwire.Action{Delay: s.Delay} }),
	Check: func(s Spec) error {
		if s.Delay <= 0 && s.Jitter <= 0 {
			return errors.New("delay: statement-delay needs a positive delay or jitter")
		}
		return checkStatement(s)
	},
}
