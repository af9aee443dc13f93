package lab_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

var (
	everything = explore.Options{Preemptions: schedule.Unbounded, KeepGoing: true}
	reduced    = explore.Options{Preemptions: schedule.Unbounded, KeepGoing: true, Reduce: true, Symmetry: true}
)

func search(t testing.TB, l *lab.Lab, o explore.Options) schedule.Result {
	t.Helper()
	result, err := l.Explore(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// clean wants nothing violated, and nothing left open.
func clean(t testing.TB, r schedule.Result) {
	t.Helper()
	if r.Exit() != 0 {
		t.Errorf("%s: %s\n%s\nopen %q\noutcomes %q", r.Name, r.Sentence(), r.Claim(), r.Open, outcomes(r))
	}
	t.Logf("%s: %s, %v", r.Name, r.Claim(), r.Took.Round(time.Millisecond))
}

func outcomes(r schedule.Result) []string {
	set := map[string]bool{}
	for _, c := range r.Outcomes {
		set[c.Outcome.Signature()] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func TestTheReferenceIsCleanAndReductionChangesNothing(t *testing.T) {
	t.Parallel()
	l := open(t, lab.Options{})
	few := search(t, l, reduced)
	clean(t, few)
	all := search(t, l, everything)
	clean(t, all)
	if diff := cmp.Diff(outcomes(all), outcomes(few)); diff != "" {
		t.Errorf("outcomes differ (- all, + reduced):\n%s", diff)
	}
	if few.Schedules*4 > all.Schedules {
		t.Errorf("%d schedules of %d are no reduction", few.Schedules, all.Schedules)
	}
}

// Serializable claims roll each other back over and over: the preemptions are bounded. Redis is not seen from the database, and refused.
func TestEveryStrategyThatClaimsInTheDatabaseIsClean(t *testing.T) {
	t.Parallel()
	for _, strategy := range contract.Strategies[1:] {
		t.Run(strategy.Name, func(t *testing.T) {
			o := reduced
			if strategy.Name == "serializable" || strategy.Name == "row-lock" {
				o.Preemptions = 2
			}
			options := lab.Options{Strategy: strategy.Name}
			if strategy.Redis {
				options.Exe, options.Dir = binary, t.TempDir()
				if l, err := lab.Open(t.Context(), options); err == nil || l != nil {
					t.Fatal("a claim outside the database was taken for one that can be explored")
				}
				return
			}
			clean(t, search(t, open(t, options), o))
		})
	}
}

func TestReductionChangesNothingWhereAClaimIsALock(t *testing.T) {
	t.Parallel()
	l := open(t, lab.Options{Strategy: "in-transaction"})
	few, all := search(t, l, reduced), search(t, l, everything)
	clean(t, few)
	clean(t, all)
	if diff := cmp.Diff(outcomes(all), outcomes(few)); diff != "" || few.Schedules >= all.Schedules {
		t.Errorf("%d schedules of %d; outcomes (- all, + reduced):\n%s", few.Schedules, all.Schedules, diff)
	}
}

func TestThreeDuplicatesAreCleanWithTwoPreemptions(t *testing.T) {
	t.Parallel()
	l := open(t, lab.Options{Requests: 3})
	o := reduced
	o.Preemptions = 2
	clean(t, search(t, l, o))
}

func TestTheReferenceIsCleanUnderStricterIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) { clean(t, search(t, open(t, lab.Options{Isolation: level}), reduced)) })
	}
}

// In one process the requests share its pool: whose a statement is follows from letting one of them run at a time.
func TestTheReferenceIsCleanOnOneSharedProcess(t *testing.T) {
	t.Parallel()
	clean(t, search(t, open(t, lab.Options{Shared: true}), reduced))
}

func TestTheReferenceIsCleanInEveryCase(t *testing.T) {
	t.Parallel()
	for _, c := range lab.Cases {
		if c.Name == "duplicates" {
			continue // the tests above
		}
		t.Run(c.Name, func(t *testing.T) {
			o := reduced
			switch {
			case (lab.Options{Case: c.Name}).Actors() > 2:
				o.Preemptions = 1
			case c.Name == "retried": // twice the statements
				o.Preemptions = 2
			}
			clean(t, search(t, open(t, lab.Options{Case: c.Name}), o))
		})
	}
}

// What a counterexample must repeat: who ran what, and what came of it; keys and row numbers are fresh each time.
func shape(s *schedule.Schedule) (out []string) {
	for _, taken := range s.Steps {
		out = append(out, s.Actors[taken.Step.Actor]+": "+taken.Step.SQL)
	}
	return append(out, s.Outcome.Signature())
}

func TestARaceIsFoundEveryTimeWithTheSameCounterexample(t *testing.T) {
	t.Parallel()
	l := open(t, lab.Options{Variant: "select-then-insert"})
	o := reduced
	o.KeepGoing = false
	var first *schedule.Schedule
	for n := range 50 {
		got := search(t, l, o)
		if got.Violating != 1 || got.Schedule == nil {
			t.Fatalf("run %d: %s", n+1, got.Sentence())
		}
		if first == nil {
			first = got.Schedule
		}
		if diff := cmp.Diff(shape(first), shape(got.Schedule)); diff != "" {
			t.Fatalf("run %d: another counterexample:\n%s", n+1, diff)
		}
	}
	path := filepath.Join(t.TempDir(), "schedule.json")
	if err := first.Save(path); err != nil {
		t.Fatal(err)
	}
	replays(t, path, shape(first))
}

// replays plays a saved schedule on a fresh lab, put together from what the file says, and wants it to fit first time.
func replays(t *testing.T, path string, want []string) {
	t.Helper()
	saved, err := schedule.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, lab.Options{}.FromSetup(saved.Setup))
	scenario, err := l.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	again, err := explore.Replay(t.Context(), l.System(scenario), saved)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, shape(again)); diff != "" {
		t.Errorf("it ended otherwise:\n%s", diff)
	}
}

// Faults of an order of statements, each with the case that brings them out.
func TestBrokenVariantsAreConvicted(t *testing.T) {
	t.Parallel()
	for _, v := range []struct{ variant, in, invariant string }{
		{"insert-where-not-exists", "duplicates", "at-most-once"},
		{"no-fence", "stalled", "zombie-fenced"},
		{"no-body-hash", "mismatch", "mismatch-rejected"},
		{"erasure-spares-in-flight", "erase", "erasure"},
	} {
		t.Run(v.variant, func(t *testing.T) {
			l := open(t, lab.Options{Variant: v.variant, Case: v.in})
			o := reduced
			o.KeepGoing = false
			if (lab.Options{Case: v.in}).Actors() > 2 {
				o.Preemptions = 2
			}
			got := search(t, l, o)
			if got.Schedule == nil || !slices.ContainsFunc(got.Schedule.Outcome.Violated, func(b schedule.Violation) bool { return b.Invariant == v.invariant }) {
				t.Fatalf("%s: %+v", got.Sentence(), got.Schedule)
			}
			t.Logf("schedule %d, %v", got.First, got.Took.Round(time.Millisecond))
		})
	}
}

func TestTheReferenceSurvivesEveryCrashPoint(t *testing.T) {
	t.Parallel()
	for _, o := range []lab.CrashOptions{{}, {Cross: true}, {Replayed: true}} {
		survives(t, o, 5*12)
	}
}

func TestTheReferenceSurvivesStatementsThatHang(t *testing.T) {
	t.Parallel()
	survives(t, lab.CrashOptions{Faults: []string{"hang"}}, 5)
}

// survives wants every point struck and nothing violated.
func survives(t *testing.T, o lab.CrashOptions, points int) {
	t.Helper()
	got, err := open(t, lab.Options{StaleAfter: 300 * time.Millisecond, Deadline: 2 * time.Second}).Crash(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Points {
		if len(p.Outcome.Violated) > 0 {
			t.Errorf("%s at step %d: saw %s, then %s: %v", p.Fault, p.Step, p.Saw, p.Final, p.Outcome.Violated)
		}
	}
	if got.Exit() != 0 || len(got.Points) < points {
		t.Errorf("%s: %d points; open %q", got.Name, len(got.Points), got.Open)
	}
	t.Logf("%s: %d points in %v", got.Name, len(got.Points), got.Took.Round(time.Millisecond))
}

func TestACompletionAfterTheCommitIsConvictedByItsCrashPoints(t *testing.T) {
	t.Parallel()
	l := open(t, lab.Options{Variant: "completion-after-commit", StaleAfter: 300 * time.Millisecond, Deadline: 2 * time.Second})
	got, err := l.Crash(t.Context(), lab.CrashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	twice := slices.ContainsFunc(got.Points, func(p schedule.CrashPoint) bool { return p.Outcome.Executions == 2 && p.Fault == "kill-server-after" })
	if got.Exit() != 1 || !twice {
		t.Errorf("%s", got.Sentence())
	}
}

func TestNothingStrikesAfterTheFirstViolation(t *testing.T) {
	t.Parallel()
	l := open(t, lab.Options{Variant: "tier1-fails-open", StaleAfter: 300 * time.Millisecond, Deadline: 2 * time.Second})
	got, err := l.Crash(t.Context(), lab.CrashOptions{Faults: []string{"cut-before", "cut-after"}, First: true})
	if err != nil {
		t.Fatal(err)
	}
	last := got.Points[len(got.Points)-1]
	if got.Violating != 1 || len(last.Outcome.Violated) == 0 || last.Fault != "cut-before" || len(got.Points) >= len(got.Steps) {
		t.Errorf("%d of %d points violate, the last is %s at step %d of %d", got.Violating, len(got.Points), last.Fault, last.Step, len(got.Steps))
	}
}

func TestWhatCannotBeExploredIsRefused(t *testing.T) {
	t.Parallel()
	if err := (lab.CrashOptions{Faults: []string{"nothing"}}).Validate(); err == nil {
		t.Error("an unknown fault was accepted")
	}
	for _, o := range []lab.Options{{Case: "nothing"}, {Route: "nowhere"}, {Requests: 9}, {Isolation: "some"}} {
		if err := o.Validate(); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
