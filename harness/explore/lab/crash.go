package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// recoveryBeyond is how long past the stale threshold a key may take to its final answer.
const recoveryBeyond = 5 * time.Second

// CrashOptions say which request is struck, and beside what.
type CrashOptions struct {
	Faults   []string // names of those that strike, in this order; none for all but the slow
	First    bool     // nothing strikes any more once an invariant is broken
	Replayed bool     // a duplicate of a completed request is struck, instead of a first one
	Cross    bool     // a duplicate is on its way when it strikes
	Progress func(done, of int)
}

// Validate says which fault there is none of.
func (o CrashOptions) Validate() error {
	_, err := new(Lab).named(o.Faults)
	return err
}

// Crash strikes at every step of one request with every fault, or with those that are named.
func (l *Lab) Crash(ctx context.Context, o CrashOptions) (schedule.CrashResult, error) {
	faults, err := l.named(o.Faults)
	if err != nil {
		return schedule.CrashResult{}, err
	}
	scenario, plan, err := l.struck(o)
	if err != nil {
		return schedule.CrashResult{}, err
	}
	l.judge.Recovery = l.opts.StaleAfter + recoveryBeyond
	plan.Faults, plan.First = faults, o.First
	return l.stage.Crash(ctx, scenario, plan)
}

// struck is the request that is struck, with how its key is judged and settled.
func (l *Lab) struck(o CrashOptions) (explore.Scenario, explore.CrashPlan, error) {
	route, err := findRoute(l.opts.Route)
	if err != nil {
		return explore.Scenario{}, explore.CrashPlan{}, err
	}
	var first firsts
	scenario := explore.Scenario{
		Name:   fmt.Sprintf("%s, crash points", l.subject()),
		Actors: []explore.Actor{l.client(0).Actor("request 1", "", route.request)},
		Fresh:  func(context.Context) (explore.Case, error) { return l.freshKey(), nil },
	}
	if o.Replayed {
		scenario.Name += " of a replay"
		scenario.Fresh = func(ctx context.Context) (explore.Case, error) {
			c := l.freshKey()
			first.put(l.patient().Actor("first", "", route.request).Act(ctx, c))
			return c, nil
		}
	}
	if o.Cross {
		scenario.Name += ", beside a duplicate"
		scenario.Actors = append(scenario.Actors, l.client(1).Actor("request 2", "", route.request))
	}
	return scenario, explore.CrashPlan{
		Class: l.patient().Class, Progress: o.Progress,
		Judge: func(ctx context.Context, c explore.Case, plays []explore.Play, beside explore.Beside) (schedule.Outcome, error) {
			beside.Plays = first.get(c.Key)
			return l.judge.Case(ctx, c, plays, beside)
		},
		Settle: func(ctx context.Context, c explore.Case, plays []explore.Play) []explore.Play {
			return l.settle(ctx, c, route, plays)
		},
	}, nil
}

// firsts keeps what happened under a key before the request that is struck. Keys are judged beside one another.
type firsts struct{ byKey sync.Map }

func (f *firsts) put(p explore.Play) {
	a := p.Sent[0]
	// The schedule's zero is taken when everything is ready for it: what came before is negative.
	a.SentNS, a.DoneNS = a.SentNS-a.DoneNS-1, -1
	p.Sent[0] = a
	f.byKey.Store(a.Key, []explore.Play{p})
}

func (f *firsts) get(key string) []explore.Play {
	plays, _ := f.byKey.Load(key)
	list, _ := plays.([]explore.Play)
	return list
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

// named finds faults by their names; no name means all but the slow one.
func (l *Lab) named(names []string) ([]explore.Fault, error) {
	all := l.faults()
	if len(names) == 0 {
		return all[:len(all)-1], nil
	}
	var out []explore.Fault
	for _, name := range names {
		at := slices.IndexFunc(all, func(f explore.Fault) bool { return f.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("no fault %q; there are: %s", name, strings.Join(faultNames(all), ", "))
		}
		out = append(out, all[at])
	}
	return out, nil
}

func faultNames(faults []explore.Fault) (names []string) {
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return names
}

// faults are those of the wire, and those that kill. What kills comes late, for it costs a restart each, and last what costs a deadline each.
func (l *Lab) faults() []explore.Fault {
	restart := func(ctx context.Context) error { return errors.Join(l.replicas[0].Start(ctx), l.rewarm(ctx)) }
	return append(explore.WireFaults(),
		explore.Fault{
			Name: "kill-server", Story: "the server process is killed before it has sent the statement",
			Strike: l.killServer, Heal: restart,
		},
		explore.Fault{
			Name: "kill-server-after", Story: "the server process is killed when the database has answered, and before it has seen that",
			Action: pgwire.Action{Verb: pgwire.CutAfter}, Late: true, Strike: l.killServer, Heal: restart,
			Freeze: func() error { return l.replicas[0].Process().Pause() },
		},
		explore.Fault{
			Name: "kill-postgres", Story: "PostgreSQL is killed before it has received the statement",
			Strike: func(context.Context) error { return l.cluster.Kill() }, Heal: l.restartDatabase,
		},
		l.hang(),
	)
}

// hang keeps a statement on its way for longer than a request may take, and then loses it. It is over when it is lost: until then the
// transaction that it belongs to holds its locks.
func (l *Lab) hang() explore.Fault {
	lasts := l.opts.Deadline + l.opts.Deadline/10
	var lost *time.Timer
	return explore.Fault{
		Name: "hang", Story: "the statement is on its way for longer than the request may take, and never arrives",
		Action: pgwire.Action{Verb: pgwire.CutBefore, Delay: lasts},
		Freeze: func() error {
			lost = time.NewTimer(lasts)
			return nil
		},
		Heal: func(ctx context.Context) error {
			if lost == nil { // the request did not come to the statement
				return nil
			}
			select {
			case <-lost.C:
				lost = nil
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
}

func (l *Lab) killServer(context.Context) error { return l.replicas[0].Process().Kill() }

func (l *Lab) restartDatabase(ctx context.Context) error {
	l.stage.Forget(ctx)
	return errors.Join(l.judge.Close(ctx), l.cluster.Restart(ctx), l.rewarm(ctx))
}
