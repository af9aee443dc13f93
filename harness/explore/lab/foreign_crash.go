package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// patienceOfClients is how long a key is asked for after a crash where the file does not say how soon it recovers. Its fate is not judged then,
// but asking may bring a second execution about.
const patienceOfClients = time.Second

// Crash strikes at every step of one request with every fault.
func (f *Foreign) Crash(ctx context.Context, o CrashOptions) (schedule.CrashResult, error) {
	if f.opts.Serve != nil {
		return schedule.CrashResult{}, errors.New("crash points need servers that can be killed, and these are in the caller's own process")
	}
	if len(f.servers) == 1 {
		return schedule.CrashResult{}, f.atFile(errors.New("start.one_process: crash points need a second process, which takes the retries; allow several, each on its own port"))
	}
	faults, err := f.faults(o.Faults)
	if err != nil {
		return schedule.CrashResult{}, err
	}
	var first firsts
	result, err := f.stage.Crash(ctx, f.struck(o, &first), explore.CrashPlan{
		Faults: faults, First: o.First, Class: f.patient().Class, Progress: o.Progress,
		Judge: func(ctx context.Context, c explore.Case, plays []explore.Play, beside explore.Beside) (schedule.Outcome, error) {
			beside.Plays = first.get(c.Key)
			return f.judge.Case(ctx, c, plays, beside)
		},
		Settle: func(ctx context.Context, c explore.Case, plays []explore.Play) []explore.Play {
			return f.asking().untilFinal(ctx, c, plays, max(f.judge.Recovery, patienceOfClients))
		},
	})
	result.NotJudged = f.notJudged()
	if f.restarts > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("the server ended by itself %d times, and was started again as a supervisor does", f.restarts))
	}
	return result, err
}

// struck is the request that is struck, and what goes on beside it.
func (f *Foreign) struck(o CrashOptions, first *firsts) explore.Scenario {
	actor := func(client *explore.Client, name string) explore.Actor {
		return f.actor(client, name, "", f.opts.Target.Request.Body)
	}
	return o.scenario(explore.Scenario{
		Name:   f.opts.Target.Name + ", crash points",
		Actors: []explore.Actor{actor(f.client(0), "request 1")},
		Fresh:  func(ctx context.Context) (explore.Case, error) { return f.fresh(), f.revive(ctx) },
	}, actor(f.patient(), "first"), actor(f.client(1), "request 2"), first)
}

// faults are those that are named, or all. After each, a server that has ended by itself is started again: some do when a connection
// breaks, and a moment after the answer that shows it.
func (f *Foreign) faults(names []string) ([]explore.Fault, error) {
	list := explore.WireFaults()
	for i := range list {
		list[i].Heal = f.rewarm
	}
	v := victims{
		server:   func() *subject.Process { return f.servers[0].Process() },
		database: func() *pgcluster.Cluster { return f.cluster },
		restart:  f.restart, restartDatabase: f.restartDatabase,
	}
	return chosen(names, append(list, v.killing()...))
}

// ValidateCrash says which fault there is none of.
func (ForeignOptions) ValidateCrash(o CrashOptions) error {
	_, err := new(Foreign).faults(o.Faults)
	return err
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
