package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/reports/progress"
)

// eventLines writes events, one a line, from any goroutine. The first failure to write is kept for the end.
type eventLines struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (l *eventLines) write(e reports.RunEvent) {
	e.Schema, e.At = reports.EventSchema, time.Now().UTC()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = json.NewEncoder(l.w).Encode(e)
	}
}

func (l *eventLines) start(names []string, seed uint64) {
	l.write(reports.RunEvent{Event: reports.EventStart, Tool: harness.Version(), Scenarios: names, Seed: seed})
}

func (l *eventLines) phase(scenario string) func(progress.Event) {
	return func(e progress.Event) {
		rate := 0.0
		if e.Took > 0 {
			rate = float64(e.Done) / e.Took.Seconds()
		}
		l.write(reports.RunEvent{
			Event: string(e.Kind), Scenario: scenario, Phase: e.Name, Done: e.Done, Total: e.Total, TookNS: int64(e.Took), PerSecond: rate,
		})
	}
}

func (l *eventLines) verdict(run verdict.Run, dir string) {
	exit := run.Verdict.Exit()
	l.write(reports.RunEvent{Event: reports.EventVerdict, Scenario: run.Scenario, Sentence: run.Verdict.Sentence(), Dir: dir, Exit: &exit, Run: &run})
}

// end closes the stream: with what went wrong, if it was not a verdict, and the exit code.
func (l *eventLines) end(dir string, err error) {
	code := exitCode(err)
	if err != nil && !shown(err) {
		l.write(reports.RunEvent{Event: reports.EventError, Error: oneLine(err), Exit: &code})
	}
	l.write(reports.RunEvent{Event: reports.EventEnd, Dir: dir, Exit: &code})
}
