package claim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// load is what one measurement sends to one server.
type load struct {
	bench    *Bench
	cell     bench.Cell
	db       *database
	replica  *subject.Replica
	contract contract.Contract
	seed     uint64
	plays    uint64
}

// play drives phases against the server and reads back what came of them.
func (l *load) play(ctx context.Context, phases []plan.Phase, progress drive.Progress) (*played, error) {
	p, err := l.plan(phases)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(l.bench.stage.dir, "history.jsonl.gz")
	if err := l.drive(ctx, p, path, progress); err != nil {
		return nil, err
	}
	out := newPlayed(l.cell)
	raced := p.Count(0)
	for event, err := range history.Read(path) {
		if err != nil {
			return nil, fmt.Errorf("read the history of a measurement: %w", err)
		}
		if a := event.Attempt; a != nil {
			out.add(a, l.contract.Classify(a.Status, a.Marked, a.Body), a.Op <= raced)
		}
	}
	out.record.Flush()
	return out, nil
}

// plan makes keys that no other measurement and no warm-up has.
func (l *load) plan(phases []plan.Phase) (*plan.Plan, error) {
	accounts := make([]plan.Account, len(l.db.fixture.Users))
	for i, u := range l.db.fixture.Users {
		accounts[i].ID = u.ID
	}
	l.plays++
	return plan.Build(plan.Input{
		Spec: plan.Spec{Fixture: plan.Fixture{Users: len(accounts), Cash: cash}, Phases: phases}, Contract: l.contract, Accounts: accounts,
		Seed: l.bench.Seed<<32 ^ l.seed<<2 ^ l.plays&3,
	})
}

func (l *load) drive(ctx context.Context, p *plan.Plan, path string, progress drive.Progress) error {
	writer, err := history.Create(path)
	if err != nil {
		return fmt.Errorf("open the history of a measurement: %w", err)
	}
	_, err = drive.Run(ctx, drive.Config{
		Plan: p, Targets: []string{l.replica.URL()}, Writer: writer, Zero: time.Now(), Contract: l.contract, Progress: progress,
		Credentials: func(user int64) string { return l.db.fixture.Users[user-1].Token },
	})
	return errors.Join(err, writer.Close())
}

// played is what came of one play.
type played struct {
	cell     bench.Cell
	times    latency.Set // a series a role
	record   *latency.Recorder
	acked    int64 // answers that say that an order was placed
	requests int64 // of the race
	waited   int64
	failed   int64
	fresh    []int64 // when winners had their answers, since the zero
	race     span
	again    span
}

// span is from the first sending to the last answer, since the zero, in nanoseconds.
type span struct{ from, until int64 }

func (s *span) extend(a *history.Attempt) {
	s.from, s.until = min(s.from, a.SentNS), max(s.until, a.DoneNS)
}

func (s span) seconds() float64 { return float64(s.until-s.from) / float64(time.Second) }

func newPlayed(c bench.Cell) *played {
	p := &played{cell: c, race: span{from: math.MaxInt64}, again: span{from: math.MaxInt64}}
	p.record = p.times.Recorder()
	return p
}

// add takes an attempt in. What is neither an answer of its role nor a conflict is counted as failed, and its time with nobody's: a refusal is
// quick.
func (p *played) add(a *history.Attempt, answer contract.Answer, raced bool) {
	if raced {
		p.requests++
		p.race.extend(a)
	} else {
		p.again.extend(a)
	}
	if answer == contract.AnswerFresh {
		p.acked++
	}
	role, ok := roleOf(answer, raced)
	if a.Outcome != history.Returned || !ok {
		p.failed++
		return
	}
	switch {
	case role == bench.Winner:
		p.fresh = append(p.fresh, a.DoneNS)
	case role == bench.Loser && answer == contract.AnswerReplay:
		p.waited++
	}
	p.record.Record(series(p.cell, role), time.Duration(a.DoneNS-a.SentNS))
}

func roleOf(answer contract.Answer, raced bool) (role bench.Role, ok bool) {
	switch {
	case raced && answer == contract.AnswerFresh:
		return bench.Winner, true
	case raced && (answer == contract.AnswerInFlight || answer == contract.AnswerReplay):
		return bench.Loser, true
	case !raced && answer == contract.AnswerReplay:
		return bench.Replay, true
	}
	return "", false
}

// lateRate is keys a second in the second half of the race: the first has the server's first moments in it.
func (p *played) lateRate() float64 {
	if len(p.fresh) == 0 {
		return 0
	}
	middle := p.race.from + (p.race.until-p.race.from)/2
	n := 0
	for _, at := range p.fresh {
		if at >= middle {
			n++
		}
	}
	return float64(n) / (p.race.seconds() / 2)
}

func (p *played) measurement() bench.Measurement {
	m := bench.Measurement{Cell: p.cell, Keys: int64(len(p.fresh)), Requests: p.requests, Failed: p.failed, Waited: p.waited}
	if p.race.until > p.race.from {
		m.KeysPerSecond = float64(m.Keys) / p.race.seconds()
	}
	summary := func(role bench.Role) bench.Times { return bench.TimesOf(p.times.Summary(series(p.cell, role))) }
	m.Winner, m.Loser, m.Replay = summary(bench.Winner), summary(bench.Loser), summary(bench.Replay)
	if p.again.until > p.again.from {
		m.ReplaysPerSecond = float64(m.Replay.Count) / p.again.seconds()
	}
	return m
}
