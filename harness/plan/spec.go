// Package plan turns a workload and a seed into operations: every id, key, body, due time, client and retry rule is fixed
// before the first request is sent.
//
// It stands between the scenario and the driver. It is pure: no clock, no network, no globals; the same spec, seed, contract
// and fixture give the same operations, byte for byte.
package plan

import (
	"slices"
	"time"
)

// Duration is a time.Duration that a scenario file writes as "250ms" or "2s".
type Duration time.Duration

// Spec is the workload part of a scenario file.
type Spec struct {
	Fixture Fixture          `yaml:"fixture"`
	Retries map[string]Retry `yaml:"retries"` // policies by name, for phases to refer to
	Phases  []Phase          `yaml:"phases"`  // in order; the next starts when the one before has ended
}

// Fixture is what the subject is asked to hold before the run.
type Fixture struct {
	Users     int    `yaml:"users" json:"users"`
	Positions int    `yaml:"positions" json:"positions"` // per user
	Cash      string `yaml:"cash" json:"cash"`           // opening balance of each user, such as "1000000.00"
}

// Account is one user of the subject as the plan sees it: no credentials here, they are the driver's.
type Account struct {
	ID        int64   `json:"id"`
	Positions []int64 `json:"positions"` // ids of positions that can be closed or rolled, each once
}

// Loop says when operations of a phase are sent.
type Loop string

// The loops. A closed loop sends when its client is free; an open loop sends when the arrival is due, whoever waits.
const (
	Closed Loop = "closed"
	Open   Loop = "open"
)

// Arrivals says how the due times of an open loop are spaced.
type Arrivals string

// The arrivals. Poisson arrivals come at random, independently of one another, as those of many independent clients do; their number is the
// same as with constant ones.
const (
	Constant Arrivals = "constant"
	Poisson  Arrivals = "poisson"
)

// Phase is one stretch of the workload: one shape of traffic, with its numbers. Which numbers a shape uses, its file says.
type Phase struct {
	Name     string   `yaml:"name"`
	Shape    string   `yaml:"shape"` // race, again, storm, traffic, spellings, malformed, rivals, situations: see Shapes
	At       Duration `yaml:"at"`    // it begins no earlier than this since the run's zero, as faults do
	Loop     Loop     `yaml:"loop"`
	Clients  int      `yaml:"clients"`  // closed loop: how many; open loop: bound on requests in flight
	Rate     float64  `yaml:"rate"`     // open loop: arrivals a second
	Arrivals Arrivals `yaml:"arrivals"` // open loop: constant or poisson
	For      Duration `yaml:"for"`      // open loop: length; the count of operations follows
	Bound    Duration `yaml:"bound"`    // the phase is stopped after this long whatever happens

	Keys       int            `yaml:"keys"`       // distinct keys; in an open loop the number of arrivals decides
	Duplicates int            `yaml:"duplicates"` // operations a key
	Hot        float64        `yaml:"hot"`        // share of operations that go to a few hot keys, 0 to 1
	Refused    float64        `yaml:"refused"`    // share of keys whose action the subject must refuse (not enough cash), 0 to 1
	Mix        map[string]int `yaml:"mix"`        // weight by route id
	Of         string         `yaml:"of"`         // again: the earlier phase whose keys it uses
	Replica    int            `yaml:"replica"`    // from 1: every operation goes to this one; 0 takes turns
	Service    bool           `yaml:"service"`    // operations carry the service token: keys without a user

	Deadline  Duration `yaml:"deadline"`  // bound on one attempt
	GiveUp    Duration `yaml:"give_up"`   // clients hang up their first attempt after a time up to this
	Impatient float64  `yaml:"impatient"` // share of operations that give up so, 0 to 1
	Retry     string   `yaml:"retry"`     // policy name; empty never retries
	Manners   Manners  `yaml:"manners"`   // how clients misbehave while they send
}

// Backoff names how waits between attempts grow.
type Backoff string

// The back-offs.
const (
	Fixed       Backoff = "fixed"
	Exponential Backoff = "exponential" // full jitter: a wait between 0 and base × 2^(n−1), capped
)

// Retry is a client's retry policy. It retries lost and unsent attempts, 5xx, 429 and an in-flight 409.
type Retry struct {
	Attempts   int      `yaml:"attempts"` // in all, the first included
	Backoff    Backoff  `yaml:"backoff"`
	Base       Duration `yaml:"base"`
	Cap        Duration `yaml:"cap"`
	RetryAfter bool     `yaml:"retry_after"` // honour the server's Retry-After, up to Cap
}

// WithLoad is the spec with another length and rate of its open-loop phases; 0 keeps what it says.
func (s Spec) WithLoad(length time.Duration, rate float64) Spec {
	s.Phases = slices.Clone(s.Phases)
	for i := range s.Phases {
		p := &s.Phases[i]
		if p.Loop != Open {
			continue
		}
		if rate != 0 {
			p.Rate = rate
		}
		if length != 0 {
			if p.Bound != 0 { // the time for stragglers stays what it was
				p.Bound = max(p.Bound, p.Bound-p.For+Duration(length))
			}
			p.For = Duration(length)
		}
	}
	return s
}
