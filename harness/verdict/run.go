package verdict

import (
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
)

// RunSchema is the version of run.json.
const RunSchema = 1

// Run is a finished run as run.json keeps it: what was run, where, what came out. The reports are made from it and from the
// history beside it.
type Run struct {
	Schema     int               `json:"schema"`
	Seal       string            `json:"seal,omitempty"` // SHA-256 of the whole file, with zeros in its own place; Save sets it
	Tool       string            `json:"tool"`           // version and revision of idemstorm
	Scenario   string            `json:"scenario"`
	Summary    string            `json:"summary"` // the scenario's own sentence
	Seed       uint64            `json:"seed"`
	PlanDigest string            `json:"plan_digest"` // SHA-256 of all operations; another digest for the same seed means another plan
	Reproduce  string            `json:"reproduce"`   // the exact command line
	Started    time.Time         `json:"started"`     // wall clock at the run's zero
	Took       time.Duration     `json:"took_ns"`
	Subject    string            `json:"subject"` // one line: what was tested, variant and replicas
	Variant    string            `json:"variant,omitempty"`
	Target     string            `json:"target,omitempty"` // file that describes the server, of somebody else's
	Facts      []Fact            `json:"facts"`            // environment: CPU, kernel, PostgreSQL and its settings, versions
	Counts     Counts            `json:"counts"`
	Latency    []latency.Summary `json:"latency"`
	Faults     []history.Fault   `json:"faults,omitempty"`
	Timeline   []Slot            `json:"timeline,omitempty"` // outcomes over time, for the drawing
	Cases      []Case            `json:"cases,omitempty"`    // the operations behind the counterexamples, so that a report needs no other file
	Recovery   []Recovery        `json:"recovery,omitempty"`
	Windows    []Window          `json:"fault_windows,omitempty"` // what each fault did, one line a fault
	Doubts     []string          `json:"doubts,omitempty"`        // what the driver itself found doubtful, such as being late; part of the verdict's doubts
	Verdict    Verdict           `json:"verdict"`
	Endpoints  []Endpoint        `json:"endpoints,omitempty"` // in the order of the plan
	Files      []string          `json:"files"`               // names beside run.json

	Digests map[string]Digest `json:"digests,omitempty"` // of the files beside run.json, as the run left them; by name
	Damage  []string          `json:"damage,omitempty"`  // what was damaged when run.json was read again; kept, since writing it anew does not mend it
}

// Digest tells whether a file is still as it was.
type Digest struct {
	SHA256 string `json:"sha256"` // hexadecimal
	Bytes  int64  `json:"bytes"`
}

// Fact is one line about the environment.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Counts sums a history up.
type Counts struct {
	Operations int64            `json:"operations"`
	Attempts   int64            `json:"attempts"`
	Returned   int64            `json:"returned"`
	Lost       int64            `json:"lost"`
	Unsent     int64            `json:"unsent"`
	Cut        int64            `json:"cut,omitempty"` // sent in part, and never the rest
	Answers    map[string]int64 `json:"answers"`       // by contract answer
	Keys       int64            `json:"keys"`
}

// Slot is one stretch of the time axis: how many attempts ended in it, by answer or "lost"/"unsent", and the slowest.
type Slot struct {
	AtNS  int64            `json:"at_ns"`
	ForNS int64            `json:"for_ns"`
	Ended map[string]int64 `json:"ended"`
	P50   time.Duration    `json:"p50_ns"`
	Max   time.Duration    `json:"max_ns"`
	Late  time.Duration    `json:"late_ns,omitempty"` // the most that an attempt sent in it was sent after it was due
}

// Endpoint is what was asked of one endpoint, and what came of it.
type Endpoint struct {
	Route      string           `json:"route"` // the short name that latency series begin with
	Endpoint   string           `json:"endpoint"`
	Operations int64            `json:"operations"`
	Attempts   int64            `json:"attempts"`
	Ended      map[string]int64 `json:"ended"` // by contract answer, or lost, unsent, cut
	P50        latency.Quantile `json:"p50"`   // of the service times of what was answered
	P99        latency.Quantile `json:"p99"`
	Max        time.Duration    `json:"max_ns"`
}

// Case is one operation of a counterexample with all its attempts and their classified answers.
type Case struct {
	Operation history.Operation `json:"operation"`
	Attempts  []history.Attempt `json:"attempts"`
	Answers   []string          `json:"answers"` // one for each attempt, by contract; "" for a lost one
}

// Recovery is how long a fault kept things from being as before.
type Recovery struct {
	Fault     int           `json:"fault"` // history.Fault.ID
	Name      string        `json:"name"`
	Unsettled int64         `json:"unsettled"` // keys without a final answer when it healed
	Longest   time.Duration `json:"longest_ns"`
}
