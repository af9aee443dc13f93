package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

// Trial is one run of a variant that a scenario must convict of breaking an invariant. Without an invariant nothing may be convicted: the
// server is a right one.
type Trial struct {
	Variant   string // "" is the reference
	Scenario  scenarios.Scenario
	Invariant string
	Seed      uint64
}

// Trialled is what came of a trial.
type Trialled struct {
	Trial
	Run      verdict.Run
	Right    bool     // convicted of what it breaks; or, of a right server, held
	Violated []string // all invariants that were violated
	FirstNS  int64    // when the violation of Invariant was first there to see, since the run's zero; 0 when only rows tell
	FirstOps int64    // operations begun by then
	Took     time.Duration
	Tries    int // runs that it took; more than one when a run was doubtful and was repeated
}

// Trials says how trials are held.
type Trials struct {
	Exe      string
	Dir      string // takes a directory for each trial
	Keep     bool   // keep those of right trials too
	Parallel int    // trials at one time; at least 1
}

// Hold runs trials and calls each as they end, one call at a time, in any order. Trials share nothing but the PostgreSQL server.
func (t Trials) Hold(ctx context.Context, lab *Lab, trials []Trial, each func(Trialled) error) error {
	var mu sync.Mutex
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(max(1, t.Parallel))
	for _, trial := range trials {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			done, err := t.hold(running, lab, trial)
			if err != nil {
				return fmt.Errorf("%s against %s: %w", trial.Scenario.Name, trial.name(), err)
			}
			mu.Lock()
			defer mu.Unlock()
			return each(done)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// maxTries bounds how often a trial is held again because its run was doubtful, such as by a generator that was too late, or did not come
// about, such as by a server that was too slow to start.
const maxTries = 3

// hold runs a trial until a run is fit to judge by. A run that says that it cannot be trusted neither convicts nor acquits, and one that was
// interrupted counts only for what it convicted.
func (t Trials) hold(ctx context.Context, lab *Lab, trial Trial) (done Trialled, err error) {
	for tries := 1; tries <= maxTries; tries++ {
		done, err = t.try(ctx, lab, trial)
		done.Tries = tries
		if ctx.Err() != nil && !done.convicts() {
			return done, errors.Join(err, ctx.Err())
		}
		if done.Right || (err == nil && len(done.Run.Verdict.Doubts) == 0) {
			return done, err
		}
	}
	return done, err
}

// convicts says that the run accuses as the trial wants it, or accuses a right server; both stand however the run ended.
func (d Trialled) convicts() bool {
	if d.Invariant == "" {
		return len(d.Violated) > 0
	}
	return d.Right
}

func (t Trials) try(ctx context.Context, lab *Lab, trial Trial) (Trialled, error) {
	dir := filepath.Join(t.Dir, fmt.Sprintf("%s-%s-%d", trial.name(), trial.Scenario.Name, trial.Seed))
	began := time.Now()
	run, err := Run(ctx, lab, Options{Scenario: trial.Scenario, Exe: t.Exe, Variant: trial.Variant, Seed: trial.Seed, Dir: dir})
	if err != nil {
		return Trialled{}, err
	}
	done := trial.judge(run)
	done.Took = time.Since(began)
	if done.Right && !t.Keep {
		return done, os.RemoveAll(dir)
	}
	return done, verdict.Save(dir, run)
}

func (t Trial) name() string {
	if t.Variant == "" {
		return "reference"
	}
	return t.Variant
}

// judge compares the verdict with what the trial is for. A run that ended early proves nothing.
func (t Trial) judge(run verdict.Run) Trialled {
	done := Trialled{Trial: t, Run: run}
	for _, f := range run.Verdict.Findings {
		if f.Status != verdict.Violated {
			continue
		}
		done.Violated = append(done.Violated, f.Invariant)
		if f.Invariant == t.Invariant {
			done.Right, done.FirstNS, done.FirstOps = true, f.FirstNS, f.FirstOps
		}
	}
	if t.Invariant == "" {
		done.Right = run.Verdict.Exit() == verdict.ExitHeld
	}
	return done
}
