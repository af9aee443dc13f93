package fault

import (
	"errors"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// slow adds delay and jitter in both directions.
var slow = Kind{
	Name:  "path-slow",
	Story: "every packet is late by delay and up to jitter, both ways",
	Sees:  "later answers; 503 where they pass the deadline",
	Holds: "as without a fault: being slow is no reason to execute twice or to go on without a claim",
	On:    anyPath,
	Strike: onPath(func(s Spec) pgwire.Link {
		lane := pgwire.Lane{Delay: s.Delay, Jitter: s.Jitter}
		return pgwire.Link{Up: lane, Down: lane}
	}),
	Check: func(s Spec) error {
		if s.Delay <= 0 && s.Jitter <= 0 {
			return errors.New("delay: path-slow needs a positive delay or jitter")
		}
		return nil
	},
}
