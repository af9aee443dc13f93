// Package idemtest gives a Go service a race scenario in its own go test: duplicates of a key at one instant, a retry storm and body
// mismatches are sent to its handler, the rows that they left are read, and the test fails with the counterexample where a key was executed
// twice.
//
// Run takes a handler, or the address of a service that runs, what is known of its endpoint, and where its executions can be counted. Postgres
// gives it a throwaway database. Explore needs no luck: it plays every order of two requests' SQL statements.
//
// A run has a seed, which fixes its operations, keys, bodies and times. A failure names it; with IDEMTEST_SEED set to it, the same test makes
// the same requests again (under -count each repetition makes keys of its own). With go test -artifacts every run keeps its report.html.
//
// The package stands above the harness as idemstorm's own commands do, and adds no judgement: Run is `idemstorm run --target`, Explore is
// `idemstorm explore --target`, and what a violation is stands in docs/target-file.md.
package idemtest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/scenarios"
)

// Run storms the endpoint and fails the test for each scenario that did not hold: with the counterexample where an invariant was violated, and
// with the reason where there was too little to judge, since that is no pass. All scenarios are run whatever the first ones showed; a scenario
// takes a second or a few.
//
// An option that cannot be meant, a service that does not answer, and evidence that does not show a request which has succeeded end the test at
// once: nothing that a storm showed would mean anything. All evidence is read; the first is judged by, and the others are compared with it.
func Run(t testing.TB, s Server, e Endpoint, evidence ...Evidence) {
	t.Helper()
	r, err := e.prepare(t, evidence)
	if err != nil {
		t.Fatalf("idemtest: %v", inGo(err))
	}
	if err := r.serve(t, s); err != nil {
		t.Fatalf("idemtest: %v", inGo(err))
	}
	defer r.serving.close()
	ctx, cancel := untilDeadline(t)
	defer cancel()
	var runs []verdict.Run
	for _, scenario := range r.scenarios {
		run, err := r.storm(ctx, scenario)
		if ctx.Err() != nil {
			t.Fatalf("idemtest: %s: the test's time was up before it had ended; raise go test's -timeout, or lower Endpoint.Keys", scenario.Name)
		}
		if err != nil {
			t.Fatalf("idemtest: %s: %v", scenario.Name, inGo(err))
		}
		tell(t, r.dir, run)
		runs = append(runs, run)
	}
	unjudged(t, runs)
}

// running is one call of Run.
type running struct {
	target    subject.Target
	scenarios []scenarios.Scenario
	evidence  []Evidence
	serving   *serving
	seed      uint64
	name      string // of the test
	nth       int    // call of Run in that test, from 1
	again     string // command that makes the same requests
	dir       string // takes the runs' files
}

// prepare refuses what cannot be run before anything is started.
func (e Endpoint) prepare(t testing.TB, evidence []Evidence) (*running, error) {
	if len(evidence) == 0 {
		return nil, errors.New("evidence: none is given, and nothing could be judged; give SQL, Pgx, Database or Count")
	}
	seed, err := e.seed()
	if err != nil {
		return nil, err
	}
	r := &running{evidence: named(evidence), seed: seed, name: t.Name(), nth: call(t.Name()), again: again(t.Name(), seed)}
	e.Name = orElse(e.Name, t.Name())
	r.target = e.target(r.evidence)
	r.dir = filepath.Join(t.ArtifactDir(), fmt.Sprintf("idemtest-%d", r.nth))
	r.scenarios, err = e.chosen(r.target)
	return r, err
}

// serve completes the target with the addresses of the server.
func (r *running) serve(t testing.TB, s Server) (err error) {
	if r.serving, err = s.start(t); err != nil {
		return err
	}
	r.target.URL = r.serving.urls
	if err = r.described(); err != nil {
		r.serving.close()
	}
	return err
}

func (r *running) described() (err error) {
	if r.target, err = r.target.Described(r.name); err != nil {
		return err
	}
	if hosts := r.target.Abroad(); len(hosts) > 0 {
		return fmt.Errorf("URL: %s is not this machine, and a test storms no other; use idemstorm run --target with --i-own-this-target", strings.Join(hosts, ", "))
	}
	for _, scenario := range r.scenarios {
		if err := scenario.Suits(r.target); err != nil {
			return fmt.Errorf("scenario %s: %w", scenario.Name, err)
		}
	}
	return nil
}

// storm runs one scenario; its files stand in a folder of its name.
func (r *running) storm(ctx context.Context, s scenarios.Scenario) (verdict.Run, error) {
	dir := filepath.Join(r.dir, s.Name)
	r.serving.distant.Store(s.Name == storming)
	run, err := harness.Run(ctx, harness.NoLab(), harness.Options{
		Scenario: s, Target: &r.target, Counters: r.counters(), Seed: r.seed, Salt: r.salt(s.Name), Again: r.again, Dir: dir,
	})
	if err != nil {
		return run, err
	}
	return run, reports.Save(dir, run)
}

// counters read the evidence when nothing is under way any more.
func (r *running) counters() (out []harness.Counter) {
	for _, e := range r.evidence {
		read := e.read
		out = append(out, harness.Counter{Name: e.name, Read: func(ctx context.Context, a harness.Asked) ([]execution, error) {
			if err := r.serving.quiet(ctx); err != nil {
				return nil, err
			}
			return read(ctx, a)
		}})
	}
	return out
}

// grace is what is left of a test's time to report in.
const grace = 5 * time.Second

// untilDeadline ends what is under way before the test binary's own time-out would, which says nothing.
func untilDeadline(t testing.TB) (context.Context, context.CancelFunc) {
	if timed, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if at, set := timed.Deadline(); set {
			return context.WithDeadline(t.Context(), at.Add(-grace))
		}
	}
	return context.WithCancel(t.Context())
}
