package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// patienceOfClients is how long a key is asked for after a crash where the file does not say how soon it recovers. Its fate is not judged then,
// but asking may bring a second execution about.
const patienceOfClients = time.Second

// Crash strikes at every step of one request with every fault.
func (f *Foreign) Crash(ctx context.Context, o CrashOptions) (schedule.CrashResult, error) {
	if len(f.servers) == 1 {
		return schedule.CrashResult{}, f.atFile(errors.New("start.one_process: crash points need a second process, which takes the retries; allow several, each on its own port"))
	}
	var first firsts
	scenario := f.struck(o, &first)
	result, err := f.stage.Crash(ctx, scenario, explore.CrashPlan{
		Faults: f.faults(), Class: f.patient().Class, Progress: o.Progress,
		Judge: func(ctx context.Context, c explore.Case, plays []explore.Play, beside explore.Beside) (schedule.Outcome, error) {
			beside.Plays = first.get(c.Key)
			return f.judge.Case(ctx, c, plays, beside)
		},
		Settle: f.settle,
	})
	result.NotJudged = f.notJudged()
	if f.restarts > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("the server ended by itself %d times, and was started again as a supervisor does", f.restarts))
	}
	return result, err
}

// struck is the request that is struck, and what goes on beside it.
func (f *Foreign) struck(o CrashOptions, first *firsts) explore.Scenario {
	body := f.opts.Target.Request.Body
	s := explore.Scenario{
		Name:   f.opts.Target.Name + ", crash points",
		Actors: []explore.Actor{f.actor(f.client(0), "request 1", "", body)},
		Fresh: func(ctx context.Context) (explore.Case, error) {
			return f.fresh(), f.revive(ctx)
		},
	}
	if o.Replayed {
		s.Name += " of a replay"
		s.Fresh = func(ctx context.Context) (explore.Case, error) {
			c := f.fresh()
			if err := f.revive(ctx); err != nil {
				return c, err
			}
			first.put(f.actor(f.patient(), "first", "", body).Act(ctx, c))
			return c, nil
		}
	}
	if o.Cross {
		s.Name += ", beside a duplicate"
		s.Actors = append(s.Actors, f.actor(f.client(1), "request 2", "", body))
	}
	return s
}

// settle asks again for every request that was not told its key's fate, by a server that was not struck.
func (f *Foreign) settle(ctx context.Context, c explore.Case, plays []explore.Play) []explore.Play {
	give := max(f.judge.Recovery, patienceOfClients)
	for i, play := range plays {
		if last := len(play.Sent) - 1; last >= 0 && !f.patient().Final(play.Sent[last]) {
			more := f.patient().Settle(ctx, c, f.request(c, play.Sent[0].Request), give)
			plays[i].Sent = append(plays[i].Sent, more...)
		}
	}
	return plays
}

// faults are those of the wire, and those that kill. After each, a server that has ended by itself is started again: some do when a
// connection breaks, and a moment after the answer that shows it.
func (f *Foreign) faults() (list []explore.Fault) {
	for _, fault := range explore.WireFaults() {
		fault.Heal = f.rewarm
		list = append(list, fault)
	}
	kill := func(context.Context) error { return f.servers[0].Process().Kill() }
	return append(list,
		explore.Fault{
			Name: "kill-server", Story: "the server process is killed before it has sent the statement", Strike: kill, Heal: f.restart,
		},
		explore.Fault{
			Name: "kill-server-after", Story: "the server process is killed when the database has answered, and before it has seen that",
			Action: pgwire.Action{Verb: pgwire.CutAfter}, Late: true, Strike: kill, Heal: f.restart,
			Freeze: func() error { return f.servers[0].Process().Pause() },
		},
		explore.Fault{
			Name: "kill-postgres", Story: "PostgreSQL is killed before it has received the statement",
			Strike: func(context.Context) error { return f.cluster.Kill() }, Heal: f.restartDatabase,
		},
	)
}

// restart starts the server that was killed, and brings it to where it was.
func (f *Foreign) restart(ctx context.Context) error {
	return errors.Join(f.servers[0].Start(ctx), f.rewarm(ctx))
}

func (f *Foreign) restartDatabase(ctx context.Context) error {
	f.stage.Forget(ctx)
	if err := errors.Join(f.judge.Close(ctx), f.cluster.Restart(ctx)); err != nil {
		return err
	}
	return errors.Join(f.revive(ctx), f.rewarm(ctx))
}

// revive starts again what has ended by itself, as a supervisor does.
func (f *Foreign) revive(ctx context.Context) error {
	for n, server := range f.servers {
		restarted, err := server.Revive(ctx)
		if err != nil {
			return fmt.Errorf("start server %d again, which had ended by itself: %w", n+1, err)
		}
		if restarted {
			f.restarts++
		}
	}
	return nil
}

// rewarm asks the struck server until its connections are good again; whether they become so is not what is judged.
func (f *Foreign) rewarm(ctx context.Context) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for range 100 {
		if a := f.ask(ctx, f.clients[0], f.fresh()); a.Status/100 == 2 {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := f.revive(ctx); err != nil {
			return err
		}
	}
	return nil
}
