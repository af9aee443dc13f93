package reports

import (
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// EventSchema is the version of the lines that tell of a run.
const EventSchema = 1

// The events of RunEvent, in the order in which a run brings them: one start; for each scenario its phases and a verdict; an error where
// there could be none; one end.
const (
	EventStart    = "start"
	EventPhase    = "phase"
	EventProgress = "progress"
	EventPhaseEnd = "phase-end"
	EventVerdict  = "verdict"
	EventError    = "error"
	EventEnd      = "end"
)

// RunEvent is one line of `idemstorm run --json`.
type RunEvent struct {
	Schema    int          `json:"schema"`
	Event     string       `json:"event"`
	At        time.Time    `json:"at"`
	Tool      string       `json:"tool,omitempty"`       // start: version and revision of idemstorm
	Scenarios []string     `json:"scenarios,omitempty"`  // start: what will be run, in this order
	Seed      uint64       `json:"seed,omitempty"`       // start: of the plans
	Scenario  string       `json:"scenario,omitempty"`   // whose phase or verdict it is
	Phase     string       `json:"phase,omitempty"`      // phase, progress, phase-end: its name
	Done      int64        `json:"done,omitempty"`       // steps of the phase that are done
	Total     int64        `json:"total,omitempty"`      // steps of the phase in all; absent where that is not known
	TookNS    int64        `json:"took_ns,omitempty"`    // the phase so far
	PerSecond float64      `json:"per_second,omitempty"` // steps a second, over the phase so far
	Sentence  string       `json:"sentence,omitempty"`   // verdict: in one line
	Dir       string       `json:"dir,omitempty"`        // verdict: the run's folder; end: the folder of all
	Exit      *int         `json:"exit,omitempty"`       // verdict, error, end: the exit code that it stands for
	Error     string       `json:"error,omitempty"`      // error: what kept a run from being made
	Run       *verdict.Run `json:"run,omitempty"`        // verdict: as run.json has it
}
