package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// recoveryBeyond is how long past the stale threshold a key may take to its final answer.
const recoveryBeyond = 5 * time.Second

// Crash strikes at every step of one request with every fault; with cross, a duplicate is on its way when it strikes.
func (l *Lab) Crash(ctx context.Context, cross bool, progress func(done, of int)) (explore.CrashResult, error) {
	route, err := findRoute(l.opts.Route)
	if err != nil {
		return explore.CrashResult{}, err
	}
	scenario := explore.Scenario{
		Name:   fmt.Sprintf("%s, crash points", l.subject()),
		Actors: []explore.Actor{l.client(0).Actor("request 1", "", route.request)},
		Fresh:  func(context.Context) (explore.Case, error) { return l.freshKey(), nil },
	}
	if cross {
		scenario.Name += ", beside a duplicate"
		scenario.Actors = append(scenario.Actors, l.client(1).Actor("request 2", "", route.request))
	}
	l.judge.Recovery = l.opts.StaleAfter + recoveryBeyond
	return l.stage.Crash(ctx, scenario, explore.CrashPlan{
		Faults: l.faults(), Judge: l.judge.Case, Class: l.patient().Class, Progress: progress,
		Settle: func(ctx context.Context, c explore.Case, plays []explore.Play) []explore.Play {
			return l.settle(ctx, c, route, plays)
		},
	})
}

// settle asks again for every request that was not told its key's fate, by a server that was not struck.
func (l *Lab) settle(ctx context.Context, c explore.Case, r Route, plays []explore.Play) []explore.Play {
	for i, play := range plays {
		if last := len(play.Sent) - 1; last >= 0 && !l.patient().Final(play.Sent[last]) {
			more := l.patient().Settle(ctx, c, r.as(play.Sent[0]), l.judge.Recovery)
			plays[i].Sent = append(plays[i].Sent, more...)
		}
	}
	return plays
}

// faults are those of the wire, and those that kill. What kills comes last: it costs a restart each.
func (l *Lab) faults() []explore.Fault {
	restart := func(ctx context.Context) error { return l.replicas[0].Start(ctx) }
	return append(explore.WireFaults(),
		explore.Fault{
			Name: "kill-server", Story: "the server process is killed before it has sent the statement",
			Strike: l.killServer, Heal: restart,
		},
		explore.Fault{
			Name: "kill-server-after", Story: "the server process is killed when the database has answered, and before it has seen that",
			Action: pgwire.Action{Verb: pgwire.CutAfter}, Late: true, Strike: l.killServer, Heal: restart,
		},
		explore.Fault{
			Name: "kill-postgres", Story: "PostgreSQL is killed before it has received the statement",
			Strike: func(context.Context) error { return l.cluster.Kill() }, Heal: l.restartDatabase,
		},
	)
}

func (l *Lab) killServer(context.Context) error { return l.replicas[0].Process().Kill() }

func (l *Lab) restartDatabase(ctx context.Context) error {
	l.stage.Forget(ctx)
	return errors.Join(l.judge.Close(ctx), l.cluster.Restart(ctx))
}
