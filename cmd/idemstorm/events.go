package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports/progress"
)

// eventSchema is the version of the lines of run --json.
const eventSchema = 1

// runEvent is one line of run --json, as docs/schema/run-event.json describes it.
type runEvent struct {
	Schema    int          `json:"schema"`
	Event     string       `json:"event"` // start, phase, progress, phase-end, verdict, error, end
	At        time.Time    `json:"at"`
	Tool      string       `json:"tool,omitempty"`      // start: version and revision
	Scenarios []string     `json:"scenarios,omitempty"` // start: what will be run, in this order
	Seed      uint64       `json:"seed,omitempty"`      // start
	Scenario  string       `json:"scenario,omitempty"`
	Phase     string       `json:"phase,omitempty"`
	Done      int64        `json:"done,omitempty"`
	Total     int64        `json:"total,omitempty"` // 0 where it is not known
	TookNS    int64        `json:"took_ns,omitempty"`
	PerSecond float64      `json:"per_second,omitempty"` // of the phase so far
	Sentence  string       `json:"sentence,omitempty"`   // verdict: in one line
	Dir       string       `json:"dir,omitempty"`        // verdict: the run's folder; end: the folder of all
	Exit      *int         `json:"exit,omitempty"`       // verdict, error, end: the exit code that it stands for
	Error     string       `json:"error,omitempty"`
	Run       *verdict.Run `json:"run,omitempty"` // verdict: as run.json has it
}

// eventLines writes events, one a line, from any goroutine. The first failure to write is kept for the end.
type eventLines struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (l *eventLines) write(e runEvent) {
	e.Schema, e.At = eventSchema, time.Now().UTC()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = json.NewEncoder(l.w).Encode(e)
	}
}

func (l *eventLines) start(names []string, seed uint64) {
	l.write(runEvent{Event: "start", Tool: harness.Version(), Scenarios: names, Seed: seed})
}

func (l *eventLines) phase(scenario string) func(progress.Event) {
	return func(e progress.Event) {
		rate := 0.0
		if e.Took > 0 {
			rate = float64(e.Done) / e.Took.Seconds()
		}
		l.write(runEvent{
			Event: string(e.Kind), Scenario: scenario, Phase: e.Name, Done: e.Done, Total: e.Total, TookNS: int64(e.Took), PerSecond: rate,
		})
	}
}

func (l *eventLines) verdict(run verdict.Run, dir string) {
	exit := run.Verdict.Exit()
	l.write(runEvent{Event: "verdict", Scenario: run.Scenario, Sentence: run.Verdict.Sentence(), Dir: dir, Exit: &exit, Run: &run})
}

// end closes the stream: with what went wrong, if it was not a verdict, and the exit code.
func (l *eventLines) end(dir string, err error) {
	code := exitCode(err)
	if err != nil && !shown(err) {
		l.write(runEvent{Event: "error", Error: oneLine(err), Exit: &code})
	}
	l.write(runEvent{Event: "end", Dir: dir, Exit: &code})
}
