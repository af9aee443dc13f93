package fault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// The commands that may run beside the traffic.
const (
	runCleanup = "cleanup"
	runErase   = "erase"
)

// noteErased is the kind of the note that says, by a user's id, that an erasure has returned.
const noteErased = "erased"

// command runs a maintenance command of the server's binary beside the traffic.
var command = Kind{
	Name:  "command",
	Story: "cleanup, or the erasure of users, runs beside the traffic",
	Sees:  "nothing; after an erasure, 401 and no records of that user",
	Holds: "cleanup removes only what has expired; an erased user's claim never comes back",
	On:    []Target{Jobs},
	Strike: func(s Spec, w World) (Strike, error) {
		if w.Command == nil || w.Note == nil {
			return nil, errors.New("run: this server has no commands")
		}
		if s.Run == runCleanup {
			return &jobStrike{every: s.Every, do: func(ctx context.Context) (int64, error) { return 1, w.Command(ctx, runCleanup) }}, nil
		}
		e := &eraser{world: w, last: s.Users}
		if s.Every == 0 {
			return &jobStrike{do: e.all}, nil
		}
		return &jobStrike{every: s.Every, do: e.next}, nil
	},
	Check: func(s Spec) error {
		switch {
		case s.Run != runCleanup && s.Run != runErase:
			return fmt.Errorf("run: %q is neither %s nor %s", s.Run, runCleanup, runErase)
		case s.Run == runErase && s.Users < 1:
			return errors.New("users: erase needs to know how many")
		}
		return nil
	},
}

// eraser erases users 1 to last, in order.
type eraser struct {
	world        World
	erased, last int
}

func (e *eraser) all(ctx context.Context) (n int64, err error) {
	for e.erased < e.last && err == nil {
		var one int64
		one, err = e.next(ctx)
		n += one
	}
	return n, err
}

func (e *eraser) next(ctx context.Context) (int64, error) {
	if e.erased == e.last {
		return 0, nil
	}
	user := strconv.Itoa(e.erased + 1)
	if err := e.world.Command(ctx, runErase, "--user", user); err != nil {
		return 0, err
	}
	e.erased++
	e.world.Note(noteErased, user)
	return 1, nil
}
