package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/fault"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

// Names of the files in a run directory, beside the servers' logs.
const (
	FileScenario = "scenario.yaml"
	FilePlan     = "plan.jsonl.gz"
	FileHistory  = "history.jsonl.gz"
	FileEvidence = "evidence.json"
	FileLatency  = "latency.hlog"
)

// ErrOtherPlan is wrapped by the error about a seed that gives another plan than the one asked for.
var ErrOtherPlan = errors.New("the plan has changed since: scenario, version or overrides differ")

// Options is one run of one scenario against the bundled server.
type Options struct {
	Scenario scenarios.Scenario
	Ref      string           // how the scenario was named, for the command that reproduces the run; "" is its own name
	Exe      string           // the binary that serves
	Target   *subject.Target  // somebody else's server instead of the bundled one; nil for none
	Counters []Counter        // sources of evidence that the caller reads, in the order of the target's Evidence.Counted
	Salt     subject.KeyBytes // mixed into the keys that a running target gets, which must be new to it; zero draws one, and the seed alone repeats nothing
	Again    string           // command that runs the same plan again; "" is that of idemstorm run
	Caps     drive.Caps       // on what is sent; zero has none
	Variant  string           // broken variant; "" is the reference
	Strategy string           // claim strategy; overrides the scenario's; "" keeps it
	Replicas int              // overrides the scenario's; 0 keeps it
	Seed     uint64
	Duration time.Duration // length of open-loop phases, if not 0
	Rate     float64       // arrivals a second of open-loop phases, if not 0
	Plan     string        // beginning of the digest that the plan must have, so that a seed that means another plan by now is noticed; "" accepts any
	Dir      string        // run directory, made by Run; what an earlier run left in it is removed
	Among    bool          // one of several: where this machine cannot run it, it is inconclusive, and no error
	Canary   Canary
	Progress Progress // nil shows nothing
}

// Progress is told how far a run is.
type Progress interface {
	Phase(name string, total int64) // a phase of total operations begins; 0 where it is not known
	Add(n int64)                    // n more are settled
	Done()                          // the phase has ended
}

func (o Options) scenarioRef() string {
	if o.Ref != "" {
		return o.Ref
	}
	return o.Scenario.Name
}

// resolve applies the overrides, so that the scenario saved beside the history is the one that was run.
func (o Options) resolve() Options {
	if o.Replicas != 0 {
		o.Scenario.Subject.Replicas = o.Replicas
	}
	if o.Strategy != "" {
		o.Scenario.Subject.Strategy = o.Strategy
	}
	o.Scenario.Workload = o.Scenario.Workload.WithLoad(o.Duration, o.Rate)
	if o.Progress == nil {
		o.Progress = silent{}
	}
	return o
}

// Run prepares, storms, reads the evidence and judges. What was recorded is in o.Dir before the first check. When ctx ends early the run
// is judged by what there is, and says that it was interrupted; the error is about a run that could not be made at all.
func Run(ctx context.Context, lab *Lab, o Options) (verdict.Run, error) {
	o = o.resolve()
	if err := o.prepareDir(); err != nil {
		return verdict.Run{}, err
	}
	o.Progress.Phase("start", 0)
	r, err := o.build(ctx, lab)
	o.Progress.Done()
	if reason := notHere(err); reason != nil && o.Among {
		return notRun(o, reason)
	}
	if err != nil {
		return verdict.Run{}, err
	}
	if r.target != nil {
		if err := r.proves(ctx); err != nil {
			return verdict.Run{}, errors.Join(err, r.close(ctx))
		}
	}
	facts, err := record(ctx, r, o)
	if err = errors.Join(err, r.close(ctx)); err != nil {
		return verdict.Run{}, err
	}
	o.Progress.Phase("check", 0)
	defer o.Progress.Done()
	return judge(o.Dir, facts)
}

func (o Options) build(ctx context.Context, lab *Lab) (*rig, error) {
	if o.Target != nil {
		return buildTarget(ctx, lab, o)
	}
	return build(ctx, lab, o.bundle(), o.seed(), o.Scenario.Faults)
}

func (o Options) prepareDir() error {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	if err := clear(o.Dir); err != nil {
		return err
	}
	data, err := yaml.Marshal(o.Scenario)
	if err != nil {
		return fmt.Errorf("encode the scenario: %w", err)
	}
	return errors.Join(os.WriteFile(filepath.Join(o.Dir, FileScenario), data, 0o644), o.saveContract())
}

// clear removes what an earlier run left, so that nothing of it is taken for this one's.
func clear(dir string) error {
	for _, pattern := range []string{"*.gz", "*.partial", "*.json", "*.log", "*.hlog", "*.html", "*.xml", "*.md", "*.addr", "*.jsonl"} {
		old, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("look for files of an earlier run: %w", err)
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("remove a file of an earlier run: %w", err)
			}
		}
	}
	return nil
}

func (o Options) bundle() subject.Bundled {
	return subject.Bundled{Exe: o.Exe, Variant: o.Variant, Spec: o.Scenario.Subject, Dir: o.Dir}
}

func (o Options) seed() subject.Seed {
	f := o.Scenario.Workload.Fixture
	return subject.Seed{Users: f.Users, Positions: f.Positions, Cash: f.Cash, Value: o.Seed}
}

// begun is a run of which nothing has happened yet.
func (o Options) begun() verdict.Run {
	run := verdict.Run{
		Schema: verdict.RunSchema, Tool: Version(), Scenario: o.Scenario.Name, Summary: o.Scenario.Summary,
		Seed: o.Seed, Reproduce: o.reproduce(), Variant: o.Variant, Subject: o.subjectLine(),
	}
	if o.Target != nil {
		run.Target = o.Target.Given()
	}
	return run
}

// savePlan makes the plan, and keeps it in the run directory.
func (o Options) savePlan(f subject.Fixture, run *verdict.Run) (*plan.Plan, error) {
	p, err := o.plan(f)
	if err != nil {
		return nil, err
	}
	run.PlanDigest = p.Digest()
	if !strings.HasPrefix(run.PlanDigest, o.Plan) {
		return nil, fmt.Errorf("%w: seed %d gives plan %.12s, not %s", ErrOtherPlan, o.Seed, run.PlanDigest, o.Plan)
	}
	if o.repeats() && o.Again == "" {
		run.Reproduce += " --plan " + run.PlanDigest[:12]
	}
	return p, history.WriteOperations(filepath.Join(o.Dir, FilePlan), p.Operations())
}

// record makes every fact of a run: the plan, the history, the evidence and the latencies, all on disk when it returns.
func record(ctx context.Context, r *rig, o Options) (verdict.Run, error) {
	run := o.begun()
	p, err := o.savePlan(r.fixture, &run)
	if err != nil {
		return run, err
	}
	if run.Facts, err = Environment(ctx, r.store.dsn, r.store.cluster != nil); err != nil {
		return run, err
	}
	run.Facts = slices.Concat(run.Facts, r.between(), o.targetFacts(), o.Canary.facts())
	if err := r.unused(ctx, o); err != nil {
		return run, err
	}
	before, err := r.before(ctx, len(o.Scenario.Faults) > 0)
	if err != nil {
		return run, err
	}
	// A run that is killed leaves this behind, with no verdict, for `check`.
	if err := verdict.Save(o.Dir, run); err != nil {
		return run, err
	}
	driven, err := storm(ctx, r, o, p, &run)
	if err != nil {
		return run, err
	}
	if err := o.saveLatency(driven, &run); err != nil {
		return run, err
	}
	err = errors.Join(collect(ctx, r, o, before), sum(o.Dir, &run))
	return run, err
}

func (o Options) subjectLine() string {
	if o.Target != nil {
		return o.targetLine()
	}
	name := "the bundled server"
	if o.Variant != "" {
		name = "the bundled server's broken variant " + o.Variant
	}
	if s := o.Scenario.Subject.Strategy; s != "" {
		name += ", claim strategy " + s
	}
	line := fmt.Sprintf("%s, %d replica(s)", name, o.Scenario.Subject.Replicas)
	if standby := o.Scenario.Subject.Standby; standby != "" {
		line += fmt.Sprintf(", PostgreSQL with a standby (%s)", standby)
	}
	return line
}

func (o Options) plan(f subject.Fixture) (*plan.Plan, error) {
	var accounts []plan.Account
	for _, u := range f.Users {
		accounts = append(accounts, plan.Account{ID: u.ID, Positions: u.Positions})
	}
	in := plan.Input{Spec: o.Scenario.Workload, Seed: o.Seed, Contract: o.contract(), Accounts: accounts}
	if o.Target != nil {
		in.Requests = requestsOf(*o.Target, o.Salt)
	}
	return plan.Build(in)
}

// repeats says whether a seed makes the same operations again.
func (o Options) repeats() bool { return o.Target == nil || !o.Target.Running() && !o.Target.ByClock() }

// storm drives the traffic while the faults strike, and returns when every key has settled or was given up.
func storm(ctx context.Context, r *rig, o Options, p *plan.Plan, run *verdict.Run) (drive.Result, error) {
	writer, err := history.Create(filepath.Join(o.Dir, FileHistory))
	if err != nil {
		return drive.Result{}, err
	}
	zero := time.Now()
	run.Started = zero
	timeline, err := fault.NewTimeline(o.Scenario.Faults, r.world(zero, writer))
	if err != nil {
		return drive.Result{}, errors.Join(err, writer.Close())
	}
	stop := r.supervise(ctx, o.Scenario.Faults, noter(zero, writer))
	healed := make(chan struct{})
	var faults error
	go func() {
		defer close(healed)
		faults = timeline.Run(ctx, zero, writer)
	}()
	endPulse := r.pulse(ctx, zero, writer, healed)
	driven, err := drive.Run(ctx, r.driveConfig(o, p, drive.Config{Writer: writer, Zero: zero, Healed: healed}))
	<-healed
	endPulse()
	stop()
	if ctx.Err() != nil {
		writer.Note(history.Note{AtNS: int64(time.Since(zero)), Kind: "interrupted", Text: "the run was stopped by a signal"})
		faults = nil
	}
	run.Took = time.Since(zero)
	return driven, errors.Join(err, faults, writer.Close())
}

// driveConfig completes what a drive needs.
func (r *rig) driveConfig(o Options, p *plan.Plan, c drive.Config) drive.Config {
	c.Plan, c.Targets, c.Credentials, c.Contract = p, r.urls(), r.token, o.contract()
	c.Progress, c.MaxLate, c.Caps = o.Progress, o.Scenario.MaxLate, o.Caps
	c.Settle = drive.Settle{Within: max(o.Scenario.Settle.Within, c.Contract.Recovery+time.Second), Every: o.Scenario.Settle.Every}
	if r.target != nil {
		c.KeyHeader, c.Headers = r.target.Key.Header, headerLines(*r.target)
	}
	return c
}

func (o Options) saveLatency(driven drive.Result, run *verdict.Run) error {
	run.Latency = driven.Latency.Summaries()
	run.Doubts = append(o.Canary.doubts(), driven.Doubts...)
	return latency.WriteLog(filepath.Join(o.Dir, FileLatency), driven.Latency)
}

// silent shows nothing.
type silent struct{}

func (silent) Phase(string, int64) {}
func (silent) Add(int64)           {}
func (silent) Done()               {}
