// Package scenarios holds the built-in scenarios and the loader of scenario files.
//
// It is the first stage of the walk: what is wanted, as data. A scenario is composed of the stages' own specs, and everything in it is
// checked when it is loaded, with file, line and what was expected.
package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// Scenario is one scenario file.
type Scenario struct {
	Version int      `yaml:"version,omitempty"` // of the file's form; left out, it is 1
	Name    string   `yaml:"name"`
	Summary string   `yaml:"summary"` // one sentence: what it does
	Catches string   `yaml:"catches"` // what kind of fault it would find
	Suites  []string `yaml:"suites"`  // the suites that it belongs to

	Subject    subject.Spec  `yaml:"subject"`
	Workload   plan.Spec     `yaml:"workload"`
	Faults     []fault.Spec  `yaml:"faults"`
	Settle     Settle        `yaml:"settle"`
	MaxLate    time.Duration `yaml:"max_late"`   // p99 of an open loop's lateness past which the run is inconclusive; default 50ms
	Invariants []string      `yaml:"invariants"` // those that it claims to judge: too little data for one is inconclusive
	Gates      []check.Gate  `yaml:"gates"`
}

// Version is the newest form of scenario files that this program reads.
const Version = 1

// Settle is the patience of the client that, when traffic and faults are over, asks every open key for its final answer.
type Settle struct {
	Within time.Duration `yaml:"within"` // bound on a key's recovery after the last fault healed; default 15s
	Every  time.Duration `yaml:"every"`  // wait between two asks; default 200ms
}

const (
	defaultWithin = 15 * time.Second
	defaultEvery  = 200 * time.Millisecond
)

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// complete fills what the file leaves out.
func (s Scenario) complete() Scenario {
	s.Version = Version
	s.Subject = s.Subject.WithDefaults()
	if s.Settle.Within == 0 {
		s.Settle.Within = defaultWithin
	}
	if s.Settle.Every == 0 {
		s.Settle.Every = defaultEvery
	}
	return s
}

// Validate refuses a scenario that cannot be run or judged. The error begins with the path of the field, such as "faults[0].at".
func (s Scenario) Validate() error {
	switch {
	case !nameForm.MatchString(s.Name):
		return fmt.Errorf("name: %q is not lower-case letters, digits and hyphens, at most 64", s.Name)
	case s.Summary == "":
		return errors.New("summary: it is missing; one sentence says what the scenario does")
	case s.Settle.Within < 0:
		return fmt.Errorf("settle.within: %v is negative", s.Settle.Within)
	case s.Settle.Every < 0:
		return fmt.Errorf("settle.every: %v is negative", s.Settle.Every)
	case s.MaxLate < 0:
		return fmt.Errorf("max_late: %v is negative", s.MaxLate)
	case len(s.Invariants) == 0:
		return errors.New("invariants: none is named; a scenario says what it judges")
	}
	return s.validateParts()
}

func (s Scenario) validateParts() error {
	if err := s.Subject.Validate(); err != nil {
		return err
	}
	if stale := s.Subject.WithDefaults().StaleAfter; slices.Contains(s.Invariants, "recovers") && s.Settle.Within <= stale && !s.ofTarget() {
		return fmt.Errorf("settle.within: %v is no longer than subject.stale_after, %v: an abandoned key could not recover in time", s.Settle.Within, stale)
	}
	if err := s.Workload.Validate(); err != nil {
		return fmt.Errorf("workload.%w", err)
	}
	if err := fault.ValidateAll(s.Faults); err != nil {
		return err
	}
	if err := s.validateDurability(); err != nil {
		return err
	}
	for i, f := range s.Faults {
		if f.Replica > s.Subject.WithDefaults().Replicas {
			return fmt.Errorf("faults[%d].replica: %d, but there are %d replicas", i, f.Replica, s.Subject.WithDefaults().Replicas)
		}
	}
	for i, id := range s.Invariants {
		if !check.Known(id) {
			return fmt.Errorf("invariants[%d]: %q is none of %v", i, id, check.IDs())
		}
	}
	for i, g := range s.Gates {
		if err := g.Validate(); err != nil {
			return fmt.Errorf("gates[%d].%w", i, err)
		}
	}
	return nil
}
