// Package fault strikes the system under test on a planned timeline, and heals it.
//
// It stands beside the driver: both follow the scenario, neither waits for the other, and both write facts into one history. One
// kind of fault is one file; all of them stand in Kinds.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// Kind is one kind of fault.
type Kind struct {
	Name   string
	Story  string           // one sentence for people: what is done to what
	Sees   string           // what a client may see while it lasts and shortly after, for docs/faults.md
	Holds  string           // what must hold all the same, for docs/faults.md
	On     []Target         // what it can strike
	Total  bool             // nothing passes the path while it lasts
	Wire   bool             // it reads statements: its paths must follow the protocol from their first byte
	Check  func(Spec) error // refuses numbers that the kind cannot use; nil accepts all
	Strike func(Spec, World) (Strike, error)
}

// Kinds lists every kind of fault.
var Kinds = []Kind{
	// The paths to the database.
	refuse, reset, hang, slow, trickle, halfOpen, flapping,
	// Single statements.
	commitAckLost, statementDelay, errorShare,
	// The servers.
	replicaKill, replicaPause, replicaRestart, replicaClock, flagFlip,
	// What runs beside the traffic, and the passing of time.
	command, recordsAge, recordsExpire,
	// What stands behind the servers.
	providerSlow, providerFail, providerFailAfterActing, providerDown,
	redisRestart, postgresKill, postgresPause, postgresRestart,
	failover, crashUnsynced,
	postgresStopImmediate, postgresConnectionsExhausted, postgresReadOnly, postgresTableLock, postgresDiskFull, pgbouncerKill,
}

// Strike is one fault of a run, ready to be injected, and healed by the same value. Both are called once, Heal also when
// Inject has failed.
type Strike interface {
	Inject(ctx context.Context) error
	Heal(ctx context.Context) error
	// Felt counts what the fault did to others: connections refused, chunks held, processes killed. A fault that struck nothing
	// proves nothing.
	Felt() int64
}

// World is what can be struck. What a run does not have is left zero, and a fault that needs it is refused.
type World struct {
	Paths      []Path
	Replicas   []*subject.Replica
	AdminToken string                                          // opens the replicas' admin routes
	Command    func(ctx context.Context, args ...string) error // runs a command of the server's binary on its database
	Database   string                                          // DSN that no fault of a path reaches
	Provider   Provider                                        // the payment provider
	Redis      *subject.Redis                                  // where a variant may keep its claims
	Postgres   *pgcluster.Cluster                              // when it is ours and serves this run alone
	Standby    *pgcluster.Cluster                              // of Postgres, where the subject has one
	Front      *pgwire.Proxy                                   // the way of Database, where a failover must lead it elsewhere
	Bouncer    *pgcluster.Bouncer                              // where the subject wants one
	Note       func(kind, text string)                         // records what the checks must know, at this moment
}

// Provider is the payment provider as faults change it.
type Provider interface {
	// Behave makes calls take delay and a share of them, 0 to 1, fail, if afterActing only once the charge is made.
	Behave(delay time.Duration, failShare float64, afterActing bool) error
	Down() error
	Up(ctx context.Context) error
	Calls() int64 // so far
}

// Path is the way of one replica to one of its databases.
type Path struct {
	Target  Target // Store or Database
	Replica int    // from 1
	Proxy   *pgwire.Proxy
}

// Fault is one entry of the timeline, bound to a run.
type Fault struct {
	ID     int // place in the timeline, from 1
	Spec   Spec
	kind   Kind
	strike Strike
}

// on begins with the target's name, which the checks read.
func (f *Fault) on() string {
	on, replica := f.Spec.On, f.Spec.Replica
	switch {
	case on == Replica && replica == 0:
		return "replicas, all"
	case on == Replica:
		return fmt.Sprintf("replica %d", replica)
	case on == Clocks && replica != 0:
		return fmt.Sprintf("clock of replica %d", replica)
	case on == Table:
		return f.Spec.lockedOn()
	case !f.Spec.isPath():
		return string(on)
	case replica == 0:
		return fmt.Sprintf("%s of all replicas", on)
	}
	return fmt.Sprintf("%s of replica %d", on, replica)
}

// event is the fact that the fault entered a phase at a moment.
func (f *Fault) event(phase string, at time.Duration) history.Fault {
	e := history.Fault{
		ID: f.ID, Name: f.Spec.Kind, On: f.on(), Phase: phase, AtNS: int64(at),
		Total: f.kind.Total && f.Spec.Replica == 0 && f.Spec.table() == keyTable,
		Info:  f.kind.Story,
	}
	if f.Spec.isPath() || f.Spec.On == Replica {
		e.Replica = f.Spec.Replica
	}
	if phase == history.FaultHealed {
		e.Bit = f.strike.Felt()
	}
	return e
}

// run is the life of one fault. The strike is recorded before anything can be felt of it; the begin when it is fully in force and the healing
// before it starts, so that the time between those two lies wholly inside the fault.
func (f *Fault) run(ctx context.Context, zero time.Time, rec Recorder) (err error) {
	if err := wait(ctx, zero, f.Spec.At); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.heal(ctx, zero, rec)) }()
	rec.Fault(f.event(history.FaultStriking, time.Since(zero)))
	if err := f.strike.Inject(ctx); err != nil {
		return fmt.Errorf("inject %s on %s: %w", f.Spec.Kind, f.on(), err)
	}
	rec.Fault(f.event(history.FaultBegan, time.Since(zero)))
	interrupted := wait(ctx, zero, f.Spec.end())
	rec.Fault(f.event(history.FaultHealing, time.Since(zero)))
	return interrupted
}

// healWithin bounds the healing of one fault, which goes on when the run was interrupted.
const healWithin = 30 * time.Second

func (f *Fault) heal(ctx context.Context, zero time.Time, rec Recorder) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healWithin)
	defer cancel()
	if err := f.strike.Heal(ctx); err != nil {
		return fmt.Errorf("heal %s on %s: %w", f.Spec.Kind, f.on(), err)
	}
	rec.Fault(f.event(history.FaultHealed, time.Since(zero)))
	return nil
}

// wait sleeps until at, or until ctx ends.
func wait(ctx context.Context, zero time.Time, at time.Duration) error {
	timer := time.NewTimer(time.Until(zero.Add(at)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
