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
	On      Target        `yaml:"on"`      // what it strikes; may be left out where the kind can strike one thing only
	Replica int           `yaml:"replica"` // from 1; 0 strikes all

	Delay     time.Duration `yaml:"delay,omitempty"`     // path-slow: added to every chunk, each way; statement-delay, provider-…: before it acts
	Jitter    time.Duration `yaml:"jitter,omitempty"`    // path-slow, statement-delay: up to this on top
	Bandwidth int64         `yaml:"bandwidth,omitempty"` // path-trickle: bytes a second and connection
	Bad       time.Duration `yaml:"bad,omitempty"`       // path-flapping: length of a bad stretch
	Good      time.Duration `yaml:"good,omitempty"`      // path-flapping: length of a good stretch

	Lag time.Duration `yaml:"lag,omitempty"` // failover, postgres-crash-unsynced: how long before the kill commits pile up that it loses

	Share     float64 `yaml:"share,omitempty"`     // of statements or calls, 0 to 1; 0 strikes all
	Statement string  `yaml:"statement,omitempty"` // regular expression, any case, over a statement's SQL
	Code      string  `yaml:"code,omitempty"`      // error-share: the SQLSTATE to answer

	Flag  string        `yaml:"flag,omitempty"`  // flag: its name
	Value bool          `yaml:"value,omitempty"` // flag: what it is while the fault lasts; the opposite afterwards
	Run   string        `yaml:"run,omitempty"`   // command: cleanup or erase; records-…: cleanup, right afterwards
	Users int           `yaml:"users,omitempty"` // command erase: users 1 to this, in order
	Every time.Duration `yaml:"every,omitempty"` // command, records-…: again in this interval while it lasts; 0 once
	By    time.Duration `yaml:"by,omitempty"`    // records-age: how much older; replica-clock: how far ahead, or behind
	State string        `yaml:"state,omitempty"` // records-…: final, in_flight, or all of them
	Table string        `yaml:"table,omitempty"` // postgres-table-lock: default the key table
}

// Target is what a fault strikes.
type Target string

// The targets: a replica's path to the key store, its handlers' path to the database, or both.
const (
	Store    Target = "store"
	Database Target = "database"
	Both     Target = "both"
)

// The other targets.
const (
	Replica         Target = "replica"  // the servers' processes
	Clocks          Target = "clocks"   // the servers' own clocks
	Flags           Target = "flags"    // switches of all servers
	Jobs            Target = "jobs"     // commands beside the traffic
	Records         Target = "records"  // the rows of the key store
	PaymentProvider Target = "provider" // the payment provider
	Redis           Target = "redis"    // the store of variants that claim there
	Postgres        Target = "postgres" // the database server itself
	Table           Target = "table"    // a table, by its name
	Pooler          Target = "pgbouncer"
)

var errEndless = errors.New("for: it is no length of time; a fault must end")

// end is when healing begins.
func (s Spec) end() time.Duration { return s.At + s.For }

// complete fills in the target where there is no choice.
func (s Spec) complete() Spec {
	if kind, known := kindOf(s.Kind); known && s.On == "" && len(kind.On) == 1 {
		s.On = kind.On[0]
	}
	return s
}

// NeedsWire says whether a fault reads statements, so that the paths must follow the protocol.
func NeedsWire(specs []Spec) bool {
	return slices.ContainsFunc(specs, func(s Spec) bool {
		kind, known := kindOf(s.Kind)
		return known && kind.Wire
	})
}

// NeedsPostgres says whether a fault strikes PostgreSQL itself, which must then serve one run alone.
func NeedsPostgres(specs []Spec) bool {
	return slices.ContainsFunc(specs, func(s Spec) bool { return s.complete().On == Postgres })
}

// Validate refuses a fault that cannot strike; the error begins with the field's name.
func (s Spec) Validate() error {
	s = s.complete()
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
	case s.Share < 0 || s.Share > 1 || s.Share != s.Share:
		return fmt.Errorf("share: %v is not between 0 and 1", s.Share)
	case s.Every < 0:
		return fmt.Errorf("every: %v is negative", s.Every)
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
			if why := s.clash(other); why != "" {
				return fmt.Errorf("faults[%d]: it overlaps faults[%d], and %s", i, j, why)
			}
		}
	}
	return nil
}

func (s Spec) overlaps(o Spec) bool {
	s, o = s.complete(), o.complete()
	return s.At < o.end() && o.At < s.end() && s.sharesTarget(o)
}

// sharesTarget says whether two faults that are complete strike one thing.
func (s Spec) sharesTarget(o Spec) bool {
	sameTarget := s.On == o.On || (s.On == Both && o.isPath()) || (o.On == Both && s.isPath())
	sameReplica := s.Replica == o.Replica || s.Replica == 0 || o.Replica == 0
	return sameTarget && sameReplica
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

// Target is what the fault strikes, also where there is no choice and the file does not say.
func (s Spec) Target() Target { return s.complete().On }
