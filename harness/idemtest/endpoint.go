package idemtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/scenarios"
)

// Endpoint is what is known of the endpoint under test. Path is required, and a body where the endpoint wants one.
//
// Path and bodies may hold {{unique}} (twelve characters), {{number}}, {{number:1-9}}, {{choice:a|b}} and {{timestamp}}: generated for each key,
// and the same in all requests under it.
type Endpoint struct {
	Name    string // in reports; default the test's name
	Method  string // default POST
	Path    string
	Headers map[string]string // of every request; Content-Type is application/json if it is not given

	Body        string // of a request that succeeds under a fresh key
	OtherBody   string // of another request that would; without it no scenario sends a mismatch
	RefusedBody string // of a request whose action is refused with 4xx
	FailingBody string // of a request whose action fails with 5xx
	SlowBody    string // of a request that takes half a second or so, so that a duplicate meets it in flight

	Key      Key
	Users    []map[string]string // headers that each user is known by, such as {"Authorization": "Bearer ann"}; default one user without any
	Contract Contract

	RecoversWithin time.Duration // bound on the time from the end of the traffic to a key's final answer; 0 is not stated

	Scenarios []string // default those of Scenarios that the fields above give the means for
	Clients   int      // at once; 0 keeps the scenario's number
	Keys      int      // of a scenario's first phase, which the others follow in proportion; 0 keeps the scenario's number
	Seed      uint64   // of every run; 0 draws one each time. IDEMTEST_SEED comes before it
}

// Key says how the idempotency key is sent: the header, default Idempotency-Key, and its Format.
type Key = subject.TargetKey

// Formats of keys, for Key.Format. The default is the contract's, or else UUID4.
const (
	UUID4  = subject.KeyUUID4
	UUID7  = subject.KeyUUID7
	Opaque = subject.KeyOpaque // 24 letters and digits
	Quoted = subject.KeyQuoted // a UUID as a structured-field string, in quotation marks
)

// Contract is what the endpoint promises: a Profile (adr0138, ietf or stripe), and what is otherwise, a row for each situation. The zero value
// promises what everybody must: at most one execution for a key, and one behind every 2xx.
type Contract = subject.TargetContract

// Row says how one situation is treated. Does is executes, replays, refuses, waits, or anything, which is not judged; Status are the statuses
// that the answer may have.
type Row = subject.TargetRow

// Replay is the row of replays. Marker is the header that tells them, such as "Idempotency-Replayed: true", or none.
type Replay = subject.TargetReplay

// Scenarios are those that Run knows: answers brings about each situation of the contract by itself, race fires duplicates at one instant,
// mismatch fires different requests under one key, and in storm clients hang up, back off and retry. The others of
// `idemstorm run --target` strike processes and databases, which a handler has not.
var Scenarios = []string{"answers", "race", "mismatch", storming}

const storming = "storm"

// target is the endpoint as a target file would describe it, without its place.
func (e Endpoint) target(evidence []Evidence) subject.Target {
	t := subject.Target{
		Name: e.Name, Request: subject.TargetRequest{Method: e.Method, Path: e.Path, Headers: e.Headers, Body: e.Body},
		OtherBody: e.OtherBody, RefusedBody: e.RefusedBody, FailingBody: e.FailingBody, SlowBody: e.SlowBody, Key: e.Key, Promise: e.Contract,
	}
	for n, headers := range e.Users {
		t.Users = append(t.Users, subject.TargetUser{Name: fmt.Sprintf("user %d", n+1), Headers: headers})
	}
	if e.RecoversWithin != 0 {
		t.RecoversWithin = e.RecoversWithin.String()
	}
	for _, one := range evidence {
		t.Evidence.Counted = append(t.Evidence.Counted, one.name)
	}
	return t
}

// chosen are the scenarios that are named, or all that the target gives the means for, in the size that is wanted.
func (e Endpoint) chosen(t subject.Target) (out []scenarios.Scenario, err error) {
	if e.Clients < 0 || e.Keys < 0 {
		return nil, fmt.Errorf("Endpoint.Clients, Endpoint.Keys: %d and %d; neither can be negative", e.Clients, e.Keys)
	}
	for _, name := range e.Scenarios {
		if !slices.Contains(Scenarios, name) {
			return nil, fmt.Errorf("Endpoint.Scenarios: %q is unknown; write some of %s", name, strings.Join(Scenarios, ", "))
		}
	}
	names := e.Scenarios
	if len(names) == 0 {
		names = Scenarios
	}
	for _, name := range names {
		s, err := scenarios.FindForTarget(name)
		if err != nil {
			return nil, err
		}
		if len(e.Scenarios) == 0 && s.Suits(t) != nil {
			continue
		}
		s.Workload = e.sized(s.Workload)
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("Endpoint.Clients, Endpoint.Keys: scenario %s: %w", name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// sized is the workload with other numbers. Phases with one client release all their requests at once anyway, and situations are few on
// purpose.
func (e Endpoint) sized(w plan.Spec) plan.Spec {
	w.Phases = slices.Clone(w.Phases)
	first := w.Phases[0].Keys
	for i := range w.Phases {
		ph := &w.Phases[i]
		if ph.Shape == "situations" {
			continue
		}
		if e.Keys != 0 && first != 0 {
			ph.Keys = max(1, ph.Keys*e.Keys/first)
		}
		if e.Clients != 0 && ph.Clients > 1 {
			ph.Clients = e.Clients
		}
	}
	return w
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
