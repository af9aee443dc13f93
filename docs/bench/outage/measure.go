package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
)

// measure drives fresh orders through one outage, with a second set of eyes on what the server holds.
func (o *outage) measure(ctx context.Context, kind string, seed uint64) (figures, error) {
	p, err := o.plan(seed)
	if err != nil {
		return figures{}, err
	}
	timeline, err := o.timeline(kind)
	if err != nil {
		return figures{}, err
	}
	file := filepath.Join(o.dir, kind+".jsonl.gz")
	writer, err := history.Create(file)
	if err != nil {
		return figures{}, err
	}
	zero, stop, sampled := time.Now(), make(chan struct{}), make(chan []sample, 1)
	healed := make(chan error, 1)
	go func() { sampled <- o.watch(ctx, zero, stop) }()
	go func() { healed <- timeline.Run(ctx, zero, writer) }()
	driven, err := drive.Run(ctx, drive.Config{
		Plan: p, Targets: []string{o.replica.URL()}, Writer: writer, Zero: zero, Contract: o.contract(), MaxLate: time.Second,
		Credentials: func(user int64) string { return o.fixture.Users[user-1].Token },
	})
	err = errors.Join(err, <-healed, writer.Close())
	close(stop)
	f := figures{kind: kind, samples: <-sampled, doubts: driven.Doubts}
	if err != nil {
		return f, err
	}
	return f, f.read(ctx, o, p, file)
}

// plan has clients enough for every request of the deadline's length to hang at once.
func (o *outage) plan(seed uint64) (*plan.Plan, error) {
	var accounts []plan.Account
	for _, u := range o.fixture.Users {
		accounts = append(accounts, plan.Account{ID: u.ID})
	}
	length := before + o.length + after
	phase := plan.Phase{
		Name: "outage", Shape: "traffic", Loop: plan.Open, Rate: o.rate, For: plan.Duration(length), Arrivals: plan.Constant,
		Clients: int(2*o.rate*deadline.Seconds()) + 64, Duplicates: 1, Mix: map[string]int{"order": 1},
		Deadline: plan.Duration(5 * deadline), Bound: plan.Duration(length + time.Minute),
	}
	return plan.Build(plan.Input{
		Spec: plan.Spec{Fixture: plan.Fixture{Users: len(accounts), Cash: "1000000000.00"}, Phases: []plan.Phase{phase}},
		Seed: seed, Contract: o.contract(), Accounts: accounts,
	})
}

// sample is what the server held at a moment of the run.
type sample struct {
	at time.Duration
	evidence.Held
}

const sampleEvery = 250 * time.Millisecond

// watch asks until it is stopped. A server too busy to answer is asked again.
func (o *outage) watch(ctx context.Context, zero time.Time, stop <-chan struct{}) (list []sample) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-stop:
			return list
		}
		if held, err := evidence.ReadHeld(ctx, o.replica.URL()); err == nil {
			list = append(list, sample{time.Since(zero), held})
		}
	}
}
