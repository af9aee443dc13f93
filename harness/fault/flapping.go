package fault

import (
	"errors"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// flapping refuses and passes in turn.
var flapping = Kind{
	Name:  "path-flapping",
	Story: "the path is refused for bad, passes for good, and so on",
	Sees:  "503 and success in turns",
	Holds: "each request is answered by what it met; pools pass over connections that died",
	On:    anyPath,
	Strike: onPath(func(s Spec) pgwire.Link {
		return pgwire.Link{State: pgwire.Refuse, Flap: pgwire.Flap{Bad: s.Bad, Good: s.Good}}
	}),
	Check: func(s Spec) error {
		if s.Bad <= 0 || s.Good <= 0 {
			return errors.New("bad: path-flapping needs a positive bad and a positive good stretch")
		}
		return nil
	},
}
