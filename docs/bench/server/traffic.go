package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
)

// play drives phases against the database's server, and returns the answers of each phase. Every answer must be the one that the phase wants.
func (d *database) play(ctx context.Context, phases []plan.Phase, want []contract.Answer, meters []*meter) ([][]answer, error) {
	terms := contract.ADR0138(30*time.Second, deadline)
	p, err := d.plan(phases, terms)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(d.dir, "history.jsonl.gz")
	writer, err := history.Create(path)
	if err != nil {
		return nil, fmt.Errorf("open the history of a measurement: %w", err)
	}
	driven, err := drive.Run(ctx, drive.Config{
		Plan: p, Targets: []string{d.replica.URL()}, Writer: writer, Zero: time.Now(), Contract: terms,
		Credentials: func(user int64) string { return d.fixture.Users[user-1].Token },
		Progress:    &watch{ctx: ctx, meters: meters},
	})
	if err := errors.Join(err, writer.Close(), ctx.Err()); err != nil {
		return nil, err
	}
	answers, err := readAnswers(path, p, terms, want)
	if err != nil {
		return nil, fmt.Errorf("%w (doubts: %q)", err, driven.Doubts)
	}
	return answers, nil
}

// plan makes keys that no other measurement has.
func (d *database) plan(phases []plan.Phase, terms contract.Contract) (*plan.Plan, error) {
	accounts := make([]plan.Account, len(d.fixture.Users))
	for i, u := range d.fixture.Users {
		accounts[i].ID = u.ID
	}
	d.plays++
	return plan.Build(plan.Input{
		Spec: plan.Spec{Fixture: plan.Fixture{Users: len(accounts), Cash: cash}, Phases: phases}, Contract: terms, Accounts: accounts, Seed: d.plays,
	})
}

// readAnswers sorts the attempts by their phase: a plan numbers its operations through. Times are from the moment when a request was due, which
// in a closed loop is when its client was free.
func readAnswers(path string, p *plan.Plan, terms contract.Contract, want []contract.Answer) ([][]answer, error) {
	out := make([][]answer, len(want))
	for event, err := range history.Read(path) {
		if err != nil {
			return nil, fmt.Errorf("read the history of a measurement: %w", err)
		}
		a := event.Attempt
		if a == nil {
			continue
		}
		phase, last := 0, p.Count(0)
		for ; a.Op > last; last += p.Count(phase) {
			phase++
		}
		if got := terms.Classify(a.Status, a.Marked, a.Body); got != want[phase] {
			return nil, fmt.Errorf("operation %d was answered by %s (%d %.80s), want %s", a.Op, got, a.Status, a.Body, want[phase])
		}
		out[phase] = append(out[phase], answer{ended: a.DoneNS, took: a.DoneNS - a.IntendedNS})
	}
	return out, nil
}

// watch reads what processors spent when each phase begins and ends. The driver waits for it.
type watch struct {
	ctx    context.Context
	meters []*meter // one a phase; nil for who does not care
	phase  int
}

func (w *watch) meter() *meter {
	if w.phase >= len(w.meters) {
		return nil
	}
	return w.meters[w.phase]
}

// Phase implements drive.Progress.
func (w *watch) Phase(string, int64) {
	if m := w.meter(); m != nil {
		m.start(w.ctx)
	}
}

// Add implements drive.Progress.
func (w *watch) Add(int64) {}

// Done implements drive.Progress.
func (w *watch) Done() {
	if m := w.meter(); m != nil {
		m.stop(w.ctx)
	}
	w.phase++
}
