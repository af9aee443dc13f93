package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Spec is one entry of a scenario's timeline.
type Spec struct {
	Kind    string        `yaml:"kind"`
	At      time.Duration `yaml:"at"`      // since the run's zero
	For     time.Duration `yaml:"for"`     // until healing begins
	On      Target        `yaml:"on"`      // what it strikes
	Replica int           `yaml:"replica"` // from 1; 0 strikes all

	Delay     time.Duration `yaml:"delay,omitempty"`     // path-slow: added to every chunk, each way
	Jitter    time.Duration `yaml:"jitter,omitempty"`    // path-slow: up to this on top
	Bandwidth int64         `yaml:"bandwidth,omitempty"` // path-trickle: bytes a second and connection
	Bad       time.Duration `yaml:"bad,omitempty"`       // path-flapping: length of a bad stretch
	Good      time.Duration `yaml:"good,omitempty"`      // path-flapping: length of a good stretch
}

// Target is what a fault strikes.
type Target string

// The targets: a replica's path to the key store, its handlers' path to the database, or both.
const (
	Store    Target = "store"
	Database Target = "database"
	Both     Target = "both"
)

var errEndless = errors.New("for: it is no length of time; a fault must end")

// end is when healing begins.
func (s Spec) end() time.Duration { return s.At + s.For }

// Validate refuses a fault that cannot strike; the error begins with the field's name.
func (s Spec) Validate() error {
	kind, known := kindOf(s.Kind)
	switch {
	case !known:
		return fmt.Errorf("kind: %q is none of %v", s.Kind, names())
	case s.At < 0:
		return fmt.Errorf("at: %v is before the run", s.At)
	case s.For <= 0:
		return errEndless
	case !slices.Contains(kind.On, s.On):
		return fmt.Errorf("on: %q is none of %v", s.On, kind.On)
	case s.Replica < 0:
		return fmt.Errorf("replica: %d is not a replica's number; 0 is all", s.Replica)
	case kind.Check != nil:
		return kind.Check(s)
	}
	return nil
}

// ValidateAll refuses faults that cannot strike, and two that would change one thing at the same time: the later would undo the former.
func ValidateAll(specs []Spec) error {
	for i, s := range specs {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("faults[%d].%w", i, err)
		}
		for j, other := range specs[:i] {
			if s.overlaps(other) {
				return fmt.Errorf("faults[%d]: it overlaps faults[%d] on the same target; one target takes one fault at a time", i, j)
			}
		}
	}
	return nil
}

func (s Spec) overlaps(o Spec) bool {
	sameTime := s.At < o.end() && o.At < s.end()
	sameTarget := s.On == o.On || (s.On == Both && o.isPath()) || (o.On == Both && s.isPath())
	sameReplica := s.Replica == o.Replica || s.Replica == 0 || o.Replica == 0
	return sameTime && sameTarget && sameReplica
}

func (s Spec) isPath() bool { return s.On == Store || s.On == Database || s.On == Both }

func kindOf(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// names lists the kinds for an error message.
func names() []string {
	var out []string
	for _, k := range Kinds {
		out = append(out, k.Name)
	}
	return out
}
