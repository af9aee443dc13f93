package fault

import (
	"fmt"
	"regexp"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

var sqlState = regexp.MustCompile(`^[0-9A-Z]{5}$`)

// errorShare answers statements with an error of the database's; an open transaction then fails for real.
var errorShare = Kind{
	Name:  "error-share",
	Story: "a share of the statements that match are answered with the error code and not carried out",
	Sees:  "5xx for a share of requests; 409 previous-failed on retry",
	Holds: "a failed statement rolls everything back; the record says failed, and nothing was executed",
	On:    anyPath,
	Wire:  true,
	Strike: onStatements("", func(s Spec) pgwire.Action {
		return pgwire.Action{Verb: pgwire.Fail, Code: s.Code}
	}),
	Check: func(s Spec) error {
		if !sqlState.MatchString(s.Code) {
			return fmt.Errorf("code: %q is no SQLSTATE such as 40001 or 57P01", s.Code)
		}
		return checkStatement(s)
	},
}
