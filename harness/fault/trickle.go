package fault

import (
	"errors"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// trickle narrows the path to a bandwidth, both ways.
var trickle = Kind{
	Name:  "path-trickle",
	Story: "each connection gets bandwidth bytes a second, each way",
	Sees:  "later answers, large ones most; 503 past the deadline",
	Holds: "as without a fault",
	On:    anyPath,
	Strike: onPath(func(s Spec) pgwire.Link {
		lane := pgwire.Lane{Bandwidth: s.Bandwidth}
		return pgwire.Link{Up: lane, Down: lane}
	}),
	Check: func(s Spec) error {
		if s.Bandwidth <= 0 {
			return errors.New("bandwidth: path-trickle needs a positive number of bytes a second")
		}
		return nil
	},
}
