// Package drive sends a plan's operations over HTTP and writes down what came back.
//
// It stands between the plan and the history: it adds only time and the network. It owns the clock: all times are monotonic nanoseconds since
// Config.Zero, which the faults share. It judges nothing; it classifies answers only as far as a client must, to know whether to ask again.
//
// An attempt is sent once: there is no hidden second sending, whatever the connection does. Unsent means that certainly nothing went out; from the
// first byte on, everything but a whole answer is Lost. Only a client that sends in pieces (see plan.Manners) knows that its request never
// became whole: then it is Cut.
package drive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/plan"
)

// HeaderOperation is the header with the operation's id, on every request.
const HeaderOperation = "Idemstorm-Operation"

// keyHeader is the header of the key where no other is named.
const keyHeader = "Idempotency-Key"

// Config is what a drive needs. Plan, Targets, Writer and Zero must be set.
type Config struct {
	Plan        *plan.Plan
	Targets     []string                // base URL of each replica, such as http://127.0.0.1:8080
	Credentials func(user int64) string // bearer token of a user or history.ServiceUser; "" sends none
	KeyHeader   string                  // name of the key's header; default Idempotency-Key
	Headers     func(user int64) string // further header lines of a user's requests, each with its line break; nil sends none
	Writer      *history.Writer         // not closed by Run
	Zero        time.Time               // the run's zero, with its monotonic reading
	Contract    contract.Contract
	Progress    Progress // nil: nobody is told
	Settle      Settle
	Healed      <-chan struct{} // closed when the last fault has healed; settling begins then. nil: there are no faults
	Caps        Caps            // on what is sent; zero has none
	MaxLate     time.Duration   // p99 of the lateness of an open loop past which its latencies are not to be trusted; default 50ms
}

// Settle is the patience with keys that have no final answer when the phases are over. Within 0 settles nothing.
type Settle struct {
	Within time.Duration // bound on the whole settling, from the last heal on
	Every  time.Duration // wait between two asks of an operation, shorter if the server asks for less; default 200ms
}

// Result is what a drive has to say beside the history.
type Result struct {
	Latency   *latency.Set
	Doubts    []string     // what threatens the run's validity
	Settled   []Settlement // operations that needed the patient client, by the moment of their final answer
	Unsettled []int64      // operations with a key and without a final answer in the end
}

// Settlement is the moment when an operation got its final answer from the patient client.
type Settlement struct {
	Op   int64
	AtNS int64
}

const (
	defaultMaxLate = 50 * time.Millisecond
	defaultEvery   = 200 * time.Millisecond
)

// driver is one drive under way.
type driver struct {
	Config
	servers  []server
	latency  latency.Set
	meter    meter
	conns    registry
	finished *finished
	progress *progress
	open     openList // operations with a key that lack a final answer
	result   Result
}

// Run sends everything and returns when all operations have ended and the open keys have settled or were given up. When ctx ends it
// returns soon, without an error, having recorded the attempts in flight as interrupted. An error means that the drive could not be made.
func Run(ctx context.Context, c Config) (Result, error) {
	d, err := newDriver(c)
	if err != nil {
		return Result{}, fmt.Errorf("drive: %w", err)
	}
	stop := context.AfterFunc(ctx, d.conns.interrupt)
	defer stop()
	for i, ph := range c.Plan.Phases() {
		if ctx.Err() == nil {
			d.phase(ctx, i, ph)
		}
	}
	d.settle(ctx)
	d.capped()
	d.result.Latency = &d.latency
	return d.result, nil
}

func newDriver(c Config) (*driver, error) {
	switch {
	case c.Plan == nil || c.Writer == nil || c.Zero.IsZero():
		return nil, errors.New("plan, history writer and zero must be given")
	case len(c.Targets) == 0:
		return nil, errors.New("there is no target")
	}
	if err := c.Caps.check(); err != nil {
		return nil, err
	}
	if c.Credentials == nil {
		c.Credentials = func(int64) string { return "" }
	}
	if c.KeyHeader == "" {
		c.KeyHeader = keyHeader
	}
	if c.Headers == nil {
		c.Headers = func(int64) string { return "" }
	}
	if c.MaxLate == 0 {
		c.MaxLate = defaultMaxLate
	}
	if c.Settle.Every == 0 {
		c.Settle.Every = defaultEvery
	}
	d := &driver{Config: c, meter: meter{caps: c.Caps}, finished: newFinished(c.Plan.Total()), progress: newProgress(c.Progress)}
	for _, target := range c.Targets {
		s, err := parseServer(target)
		if err != nil {
			return nil, err
		}
		s.keyHeader = c.KeyHeader
		d.servers = append(d.servers, s)
	}
	return d, nil
}

// now is the time since the run's zero.
func (d *driver) now() int64 { return int64(time.Since(d.Zero)) }

// phase sends one phase. Its bound stops the sending of more; attempts in flight then still have their deadline.
func (d *driver) phase(ctx context.Context, i int, ph plan.Phase) {
	d.sleep(ctx, int64(ph.At))
	total := d.Plan.Count(i)
	d.Writer.Note(history.Note{AtNS: d.now(), Kind: "phase", Text: ph.Name})
	end := d.progress.phase(ph.Name, total)
	bounded, cancel := context.WithTimeout(ctx, ph.Bound.Std())
	defer cancel()
	var begun int64
	if ph.Loop == plan.Open {
		begun = d.openLoop(ctx, bounded, i)
	} else {
		begun = d.closedLoop(ctx, bounded, i)
	}
	end()
	d.Writer.Note(history.Note{AtNS: d.now(), Kind: "phase-end", Text: ph.Name})
	if begun < total && ctx.Err() == nil {
		d.doubt("phase %s reached its bound of %v when %d of its %d operations were begun", ph.Name, ph.Bound, begun, total)
	}
}

func (d *driver) doubt(format string, args ...any) {
	d.result.Doubts = append(d.result.Doubts, fmt.Sprintf(format, args...))
}

// sleep waits until t nanoseconds since the run's zero, or until ctx ends.
func (d *driver) sleep(ctx context.Context, t int64) {
	timer := time.NewTimer(time.Duration(t - d.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
