package pgwire

import (
	"fmt"
	"sync/atomic"
	"time"
)

// State is the coarse condition of a path.
type State uint8

const (
	// Pass lets everything through, shaped by the lanes. It is the zero value.
	Pass State = iota
	// Refuse resets every connection at once and every new one as it arrives.
	// The listener stays open: the port cannot be lost to another process, and
	// a client sees "connection reset" where a closed port says "refused".
	Refuse
	// Hang holds every byte in both directions without closing anything. New
	// connections are accepted and stay silent. What was held flows on heal,
	// as it does when a network comes back.
	Hang
	// ResetBusy resets a connection as soon as its client has sent something and it
	// was forwarded: the database most likely acts, its answer is lost. Some clients (pgx)
	// send a CancelRequest after a reset, which the database may still heed.
	ResetBusy
)

// String names the state as reports do.
func (s State) String() string {
	names := [...]string{"pass", "refuse", "hang", "reset-busy"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Lane shapes one direction of every connection. The zero value shapes nothing.
type Lane struct {
	Hold      bool          // keep all bytes, silently, until this is false again
	Delay     time.Duration // added to every chunk of bytes; order is kept
	Jitter    time.Duration // uniform in [0, Jitter), added to Delay
	Bandwidth int64         // bytes per second and connection; 0 is unlimited
}

func (l Lane) plain() bool { return l == Lane{} }

// Flap alternates a link between its fault (Bad) and a clean path (Good),
// beginning with the fault. It is off unless both are positive.
type Flap struct {
	Bad, Good time.Duration
}

// Link is the condition of the path between clients and database. The zero
// value is a clean path. A half-open path is one lane with Hold set.
type Link struct {
	State State
	Up    Lane // client to database
	Down  Lane // database to client
	Flap  Flap
}

// Validate refuses a link that no path can have.
func (l Link) Validate() error {
	if l.State > ResetBusy {
		return fmt.Errorf("link: unknown %v", l.State)
	}
	for _, lane := range []Lane{l.Up, l.Down} {
		if lane.Delay < 0 || lane.Jitter < 0 || lane.Bandwidth < 0 {
			return fmt.Errorf("link: negative delay, jitter or bandwidth in %+v", lane)
		}
	}
	if (l.Flap.Bad > 0) != (l.Flap.Good > 0) || l.Flap.Bad < 0 || l.Flap.Good < 0 {
		return fmt.Errorf("link: flap needs a positive bad and a positive good time, got %v and %v", l.Flap.Bad, l.Flap.Good)
	}
	return nil
}

// lanes folds the state into the lanes: hanging is holding both.
func (l Link) lanes() (up, down Lane) {
	up, down = l.Up, l.Down
	if l.State == Hang {
		up.Hold, down.Hold = true, true
	}
	return up, down
}

// linkState is one published condition; changed is closed when the next one
// is in force, so that whatever waits under this one looks again.
type linkState struct {
	state    State
	up, down Lane
	changed  chan struct{}
}

// linkSwitch holds the condition in force. Reading it takes one atomic load,
// because every chunk of every connection does.
type linkSwitch struct {
	now atomic.Pointer[linkState]
}

func newLinkSwitch() *linkSwitch {
	s := &linkSwitch{}
	s.now.Store(&linkState{changed: make(chan struct{})})
	return s
}

func (s *linkSwitch) set(l Link) {
	up, down := l.lanes()
	next := &linkState{state: l.State, up: up, down: down, changed: make(chan struct{})}
	close(s.now.Swap(next).changed)
}
