// Package subject is the server under test: how it is prepared, started as real processes, found, paused, killed and stopped, and
// what it promises.
//
// It stands beside the driver: the driver needs only the addresses it gives, faults reach its processes through it. The bundled server
// is started like anyone's: as subprocesses of a binary, told everything by flags and environment.
package subject

import (
	"fmt"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
)

// Spec is the `subject` part of a scenario file: how the server is to be run. Zero values take the defaults.
type Spec struct {
	Replicas     int           `yaml:"replicas"`      // server processes; default 2
	StaleAfter   time.Duration `yaml:"stale_after"`   // threshold past which an in-flight record is abandoned; default 30s
	Deadline     time.Duration `yaml:"deadline"`      // the server's bound on one request; default 2s
	HandlerDelay time.Duration `yaml:"handler_delay"` // slept between claim and business transaction
	Pool         int           `yaml:"pool"`          // connections of the handlers' pool; default 16
	StorePool    int           `yaml:"store_pool"`    // connections of the key store's pool; default 16
	Isolation    string        `yaml:"isolation"`     // of business transactions; default "read committed"
	Strategy     string        `yaml:"strategy"`      // how the bundled server claims; default "insert-first"
	Standby      string        `yaml:"standby"`       // of the database: asynchronous or synchronous; default none
	Redis        bool          `yaml:"redis"`         // give it a redis without persistence; the reference does not use it
	PgBouncer    bool          `yaml:"pgbouncer"`     // a pgbouncer in transaction mode stands before the database

	TTL map[string]time.Duration `yaml:"ttl"` // life of records by route id; default what the contract says
}

// WithDefaults fills what is not set.
func (s Spec) WithDefaults() Spec {
	if s.Replicas == 0 {
		s.Replicas = 2
	}
	if s.StaleAfter == 0 {
		s.StaleAfter = 30 * time.Second
	}
	if s.Deadline == 0 {
		s.Deadline = 2 * time.Second
	}
	if s.Pool == 0 {
		s.Pool = 16
	}
	if s.StorePool == 0 {
		s.StorePool = 16
	}
	if strategy, _ := contract.FindStrategy(s.Strategy); strategy.Redis {
		s.Redis = true
	}
	return s
}

// Validate refuses what no server can be started with; the error names the field.
func (s Spec) Validate() error {
	switch {
	case s.Replicas < 0 || s.Replicas > 16:
		return fmt.Errorf("subject.replicas: %d is not between 1 and 16", s.Replicas)
	case s.StaleAfter < 0, s.Deadline < 0, s.HandlerDelay < 0:
		return fmt.Errorf("subject: a duration is negative: stale_after %v, deadline %v, handler_delay %v", s.StaleAfter, s.Deadline, s.HandlerDelay)
	case s.Pool < 0 || s.Pool > 200 || s.StorePool < 0 || s.StorePool > 200:
		return fmt.Errorf("subject: pool %d and store_pool %d must be between 1 and 200", s.Pool, s.StorePool)
	}
	if s.PgBouncer && s.Isolation != "" {
		return fmt.Errorf("subject.isolation: %q is a session's default, and pgbouncer keeps no session for a client; leave one of the two out", s.Isolation)
	}
	if err := s.validateTTL(); err != nil {
		return err
	}
	if _, known := contract.FindStrategy(s.Strategy); !known {
		return fmt.Errorf("subject.strategy: %q is none of %s", s.Strategy, strings.Join(contract.StrategyNames(), ", "))
	}
	switch s.Standby {
	case "", "asynchronous", "synchronous":
	default:
		return fmt.Errorf("subject.standby: %q is neither asynchronous nor synchronous", s.Standby)
	}
	switch s.Isolation {
	case "", "read committed", "repeatable read", "serializable":
		return nil
	}
	return fmt.Errorf("subject.isolation: %q is none of read committed, repeatable read, serializable", s.Isolation)
}

// validateTTL accepts lives for routes that keep records.
func (s Spec) validateTTL() error {
	known := contract.ADR0138(0, 0)
	for id, ttl := range s.TTL {
		if r, ok := known.Route(id); !ok || r.TTL == 0 {
			return fmt.Errorf("subject.ttl: %q is no route that keeps records", id)
		}
		if ttl <= 0 || ttl > known.MaxTTL {
			return fmt.Errorf("subject.ttl.%s: %v is not between 0 and %v", id, ttl, known.MaxTTL)
		}
	}
	return nil
}

// Connections is how many sessions all servers together may open.
func (s Spec) Connections() int {
	s = s.WithDefaults()
	return s.Replicas * (s.Pool + s.StorePool)
}

// Contract is what the bundled server promises when started by s.
func (s Spec) Contract() contract.Contract {
	s = s.WithDefaults()
	c := contract.ADR0138(s.StaleAfter, s.Deadline)
	strategy, _ := contract.FindStrategy(s.Strategy)
	c.Claims = strategy.Claims
	for i := range c.Routes {
		if ttl, ok := s.TTL[c.Routes[i].ID]; ok {
			c.Routes[i].TTL = ttl
		}
	}
	return c
}

// Account is one seeded user with the credential that the driver sends for it.
type Account struct {
	ID        int64   `json:"id"`
	Token     string  `json:"token"`
	Positions []int64 `json:"positions"`
}

// Fixture is what the subject holds before a run.
type Fixture struct {
	Users        []Account `json:"users"`
	ServiceToken string    `json:"service_token"`
}

// Paths are the addresses through which one replica reaches its databases and its provider.
type Paths struct {
	Database string // DSN of the handlers' pool
	Store    string // DSN of the key store's pool
	Provider string // base URL of the payment provider; "" for none
}
