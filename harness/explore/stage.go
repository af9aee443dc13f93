package explore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/harness/pgwire"
)

// Shared as the owner of a Gate says that several actors use its connections.
const Shared = -1

// StageOptions say how a stage watches.
type StageOptions struct {
	// DSN reaches the actors' database past every proxy: to ask who waits for whom.
	DSN string
	// Quiet is how long an actor may do nothing that can be seen before the others go on without it; default 2 s.
	Quiet time.Duration
	// Params shows bound parameters in schedules. They may hold what must not be shown.
	Params bool
}

const (
	defaultQuiet = 2 * time.Second
	// stuckAfter bounds the wait while nothing can be released: a deadlock that the database has to resolve, a server that hangs.
	stuckAfter = 30 * time.Second
	// late is when a forwarded statement is asked after: most are answered before.
	late = 300 * time.Microsecond
)

// DeadlockOption is a parameter for the URL of an actor's connections. In a deadlock PostgreSQL's victim is whoever looks first;
// with clocks a second apart that is always the lowest actor, so that a schedule repeats. That another is chosen is not explored.
func DeadlockOption(actor int) string {
	return fmt.Sprintf("options=-c%%20deadlock_timeout%%3D%ds", actor+1)
}

// Stage holds the statements of a system under exploration. Its gates are put into the wire proxies; while no schedule is being played they
// let everything pass. One schedule at a time is played.
type Stage struct {
	opts    StageOptions
	watcher *watcher
	catalog Catalog
	gates   int
	sharing bool // there is a gate that several actors use
	current atomic.Pointer[playing]
	own     background
	number  int
}

// NewStage connects to the database, whose tables must be there already. The caller must Close it.
func NewStage(ctx context.Context, o StageOptions) (*Stage, error) {
	if o.Quiet == 0 {
		o.Quiet = defaultQuiet
	}
	conn, err := pgx.Connect(ctx, o.DSN)
	if err != nil {
		return nil, fmt.Errorf("watch the database: %w", err)
	}
	catalog, err := ReadCatalog(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return &Stage{opts: o, watcher: &watcher{dsn: o.DSN, conn: conn}, catalog: catalog}, nil
}

// Close ends the stage's connection to the database.
func (s *Stage) Close(ctx context.Context) error { return s.watcher.close(ctx) }

// Forget drops the connection to a database that has gone; the next look makes a new one.
func (s *Stage) Forget(ctx context.Context) { _ = s.watcher.close(ctx) }

// Gate makes a controller for one proxy. owner is the actor whose connections it sees, from 0, or Shared.
func (s *Stage) Gate(owner int) pgwire.Controller {
	s.gates++
	s.sharing = s.sharing || owner == Shared
	return &gate{stage: s, number: s.gates, owner: owner}
}

// gate is one proxy's side of a stage.
type gate struct {
	stage  *Stage
	number int
	owner  int
}

// wire identifies a connection among those of all gates.
type wire struct {
	gate int
	conn uint64
}

func (g *gate) wire(step *pgwire.Step) wire { return wire{g.number, step.Conn.ID} }

// Decide holds a step until the schedule releases it.
func (g *gate) Decide(ctx context.Context, step *pgwire.Step) pgwire.Action {
	p := g.stage.current.Load()
	if p == nil {
		g.stage.own.hear(step)
		return pgwire.Action{}
	}
	return p.decide(ctx, g, step)
}

// Ended tells the schedule what became of a step.
func (g *gate) Ended(step *pgwire.Step, outcome pgwire.Outcome) {
	if p := g.stage.current.Load(); p != nil {
		<-p.ended(g.wire(step), step, outcome)
	}
}

// System makes a scenario explorable on this stage.
func (s *Stage) System(scenario Scenario) System { return stageSystem{s, scenario} }

type stageSystem struct {
	stage    *Stage
	scenario Scenario
}

// Begin implements System.
func (s stageSystem) Begin(ctx context.Context) (Run, error) { return s.stage.begin(ctx, s.scenario) }

// begin starts the actors. Where they share connections each is first brought to its first step, so that it is known whose that is.
func (s *Stage) begin(ctx context.Context, scenario Scenario) (*playing, error) {
	c, err := scenario.Fresh(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepare a schedule: %w", err)
	}
	s.number++
	c.Number, c.Began = s.number, time.Now()
	p := newPlaying(s, scenario, c)
	if !s.current.CompareAndSwap(nil, p) {
		return nil, errors.New("another schedule is still being played")
	}
	for i := range scenario.Actors {
		p.start(ctx, i)
		if s.sharing {
			if err := p.awaitStanding(ctx, i); err != nil {
				_, finishErr := p.Finish(ctx)
				return nil, errors.Join(err, finishErr)
			}
		}
	}
	return p, nil
}
