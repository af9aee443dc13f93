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
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
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
	_, err := new(Lab).faults(o.Faults)
	return err
}

// Crash strikes at every step of one request with every fault, or with those that are named.
func (l *Lab) Crash(ctx context.Context, o CrashOptions) (schedule.CrashResult, error) {
	faults, err := l.faults(o.Faults)
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
	actor := func(client *explore.Client, name string) explore.Actor { return client.Actor(name, "", route.request) }
	scenario := o.scenario(explore.Scenario{
		Name:   fmt.Sprintf("%s, crash points", l.subject()),
		Actors: []explore.Actor{actor(l.client(0), "request 1")},
		Fresh:  func(context.Context) (explore.Case, error) { return l.freshKey(), nil },
	}, actor(l.patient(), "first"), actor(l.client(1), "request 2"), &first)
	return scenario, explore.CrashPlan{
		Class: l.patient().Class, Progress: o.Progress,
		Judge: func(ctx context.Context, c explore.Case, plays []explore.Play, beside explore.Beside) (schedule.Outcome, error) {
			beside.Plays = first.get(c.Key)
			return l.judge.Case(ctx, c, plays, beside)
		},
		Settle: func(ctx context.Context, c explore.Case, plays []explore.Play) []explore.Play {
			return l.asking(route).untilFinal(ctx, c, plays, l.judge.Recovery)
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

// scenario adds to a request that is struck what stands before it and beside it.
func (o CrashOptions) scenario(s explore.Scenario, before, beside explore.Actor, first *firsts) explore.Scenario {
	if fresh := s.Fresh; o.Replayed {
		s.Name += " of a replay"
		s.Fresh = func(ctx context.Context) (explore.Case, error) {
			c, err := fresh(ctx)
			if err == nil {
				first.put(before.Act(ctx, c))
			}
			return c, err
		}
	}
	if o.Cross {
		s.Name += ", beside a duplicate"
		s.Actors = append(s.Actors, beside)
	}
	return s
}

// chosen finds faults by their names among the usual and the slow; no name means the usual ones.
func chosen(names []string, usual []explore.Fault, slow ...explore.Fault) (out []explore.Fault, err error) {
	if len(names) == 0 {
		return usual, nil
	}
	all := slices.Concat(usual, slow)
	for _, name := range names {
		at := slices.IndexFunc(all, func(f explore.Fault) bool { return f.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("no fault %q; there are: %s", name, strings.Join(faultNames(all), ", "))
		}
		out = append(out, all[at])
	}
	return out, nil
}

// CrashFaults are the names that CrashOptions.Faults may hold for the bundled server.
func CrashFaults() []string {
	usual, _ := new(Lab).faults(nil) // without names nothing can be unknown
	return append(faultNames(usual), new(Lab).hang().Name)
}

func faultNames(faults []explore.Fault) (names []string) {
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return names
}

// victims are what a lab has that can be killed, and how it comes back.
type victims struct {
	server                   func() *subject.Process
	database                 func() *pgcluster.Cluster
	restart, restartDatabase func(context.Context) error
}

// killing are the faults that kill. They come after those of the wire, for each costs a restart.
func (v victims) killing() []explore.Fault {
	kill := func(context.Context) error { return v.server().Kill() }
	return []explore.Fault{
		{
			Name: "kill-server", Story: "the server process is killed before it has sent the statement", Strike: kill, Heal: v.restart,
		},
		{
			Name: "kill-server-after", Story: "the server process is killed when the database has answered, and before it has seen that",
			Action: pgwire.Action{Verb: pgwire.CutAfter}, Late: true, Strike: kill, Heal: v.restart,
			Freeze: func() error { return v.server().Pause() },
		},
		{
			Name: "kill-postgres", Story: "PostgreSQL is killed before it has received the statement",
			Strike: func(context.Context) error { return v.database().Kill() }, Heal: v.restartDatabase,
		},
	}
}

// faults are those that are named, or all but the slow one.
func (l *Lab) faults(names []string) ([]explore.Fault, error) {
	v := victims{
		server:          func() *subject.Process { return l.replicas[0].Process() },
		database:        func() *pgcluster.Cluster { return l.cluster },
		restart:         func(ctx context.Context) error { return errors.Join(l.replicas[0].Start(ctx), l.rewarm(ctx)) },
		restartDatabase: l.restartDatabase,
	}
	return chosen(names, append(explore.WireFaults(), v.killing()...), l.hang())
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
			select {
			case <-lost.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
}

func (l *Lab) restartDatabase(ctx context.Context) error {
	l.stage.Forget(ctx)
	return errors.Join(l.judge.Close(ctx), l.cluster.Restart(ctx), l.rewarm(ctx))
}
