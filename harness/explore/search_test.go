package explore

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

func binomial(n, k int) int {
	out := 1
	for i := 1; i <= k; i++ {
		out = out * (n - k + i) / i
	}
	return out
}

func program(kind string, on string, k int) (out []op) {
	for range k {
		out = append(out, op{kind, on})
	}
	return out
}

func searched(t testing.TB, system System, o Options) schedule.Result {
	t.Helper()
	result, err := Search(t.Context(), system, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestWithoutReductionTheNumberOfSchedulesIsTheBinomialCoefficient(t *testing.T) {
	for k := 1; k <= 7; k++ {
		system := &sim{programs: [][]op{program("write", "a", k), program("write", "b", k)}}
		got := searched(t, system, Options{Preemptions: schedule.Unbounded})
		if want := binomial(2*k, k); got.Schedules != want || !got.Complete {
			t.Errorf("%d steps: %d schedules, want %d: %s", k, got.Schedules, want, got.Claim())
		}
	}
}

func TestIndependentActorsNeedOneSchedule(t *testing.T) {
	system := &sim{programs: [][]op{program("write", "a", 4), program("write", "b", 4), program("read", "c", 4)}}
	got := searched(t, system, Options{Reduce: true, Preemptions: schedule.Unbounded})
	if got.Schedules != 1 || !got.Complete {
		t.Errorf("%d schedules, want 1", got.Schedules)
	}
}

func TestIdenticalActorsAreExploredOnce(t *testing.T) {
	system := &sim{programs: [][]op{program("write", "a", 3), program("write", "a", 3)}}
	got := searched(t, system, Options{Reduce: true, Symmetry: true, Classes: []string{"x", "x"}, Preemptions: schedule.Unbounded})
	if want := binomial(6, 3) / 2; got.Schedules != want {
		t.Errorf("%d schedules, want half of C(6,3), %d", got.Schedules, want)
	}
}

// within counts the orders of n programs of k steps with at most p preemptions.
func within(n, k, p int) (count int) {
	var walk func(left []int, last, spent int)
	walk = func(left []int, last, spent int) {
		if spent > p {
			return
		}
		ended := true
		for actor, steps := range left {
			if steps == 0 {
				continue
			}
			ended = false
			next := slices.Clone(left)
			next[actor]--
			cost := 0
			if last >= 0 && actor != last && left[last] > 0 {
				cost = 1
			}
			walk(next, actor, spent+cost)
		}
		if ended {
			count++
		}
	}
	left := make([]int, n)
	for i := range left {
		left[i] = k
	}
	walk(left, -1, 0)
	return count
}

func TestABoundedSearchPlaysEveryScheduleWithinItsBoundOnce(t *testing.T) {
	for _, c := range []struct{ actors, steps, bound int }{{2, 4, 0}, {2, 4, 1}, {2, 4, 2}, {3, 3, 1}, {3, 3, 2}, {3, 6, 2}} {
		var programs [][]op
		for range c.actors {
			programs = append(programs, program("write", "a", c.steps))
		}
		got := searched(t, &sim{programs: programs}, Options{Preemptions: c.bound})
		if want := within(c.actors, c.steps, c.bound); got.Schedules != want || !got.Complete {
			t.Errorf("%+v: %d schedules, want %d", c, got.Schedules, want)
		}
	}
}

func signatures(r schedule.Result, permuted bool) []string {
	set := map[string]bool{}
	for _, c := range r.Outcomes {
		set[c.Outcome.Signature()] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Random programs with locks, shared variables and private ones: what reduction leaves out must be other orders of what is played.
func TestReductionReachesTheSameOutcomes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		programs := rapid.SliceOfN(rapid.SliceOfN(randomOp, 1, 4), 2, 3).Filter(fewOrders).Draw(rt, "programs")
		full := searched(t, &sim{programs: programs}, Options{Preemptions: schedule.Unbounded})
		reduced := searched(t, &sim{programs: programs}, Options{Preemptions: schedule.Unbounded, Reduce: true})
		if diff := cmp.Diff(signatures(full, false), signatures(reduced, false)); diff != "" {
			rt.Fatalf("outcomes differ (- all, + reduced):\n%s", diff)
		}
		if reduced.Schedules > full.Schedules {
			rt.Fatalf("reduced played %d, all %d", reduced.Schedules, full.Schedules)
		}
	})
}

// fewOrders keeps out programs with more orders than a test can play.
func fewOrders(programs [][]op) bool { return len(slices.Concat(programs...)) <= 9 }

var randomOp = rapid.Custom(func(t *rapid.T) op {
	kind := rapid.SampledFrom([]string{"read", "write", "lock", "unlock", "local"}).Draw(t, "kind")
	return op{kind, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "on")}
})

// Under symmetry, outcomes are equal up to the names of the actors: only what does not name them is compared.
func TestSymmetryReachesTheSameOutcomesUpToNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		one := rapid.SliceOfN(randomOp, 1, 4).Draw(rt, "program")
		n := 2
		if len(one) <= 3 {
			n = rapid.IntRange(2, 3).Draw(rt, "actors")
		}
		system := &sim{}
		classes := []string{}
		for range n {
			system.programs = append(system.programs, one)
			classes = append(classes, "same")
		}
		full := searched(t, system, Options{Preemptions: schedule.Unbounded})
		reduced := searched(t, system, Options{Preemptions: schedule.Unbounded, Reduce: true, Symmetry: true, Classes: classes})
		if diff := cmp.Diff(upToNames(full, n), upToNames(reduced, n)); diff != "" {
			rt.Fatalf("outcomes differ (- all, + symmetric):\n%s", diff)
		}
	})
}

func upToNames(r schedule.Result, n int) []string {
	set := map[string]bool{}
	for _, c := range r.Outcomes {
		var smallest string
		for _, names := range permutations(n) {
			answers := make([]string, n)
			for actor, answer := range c.Outcome.Answers {
				answers[names[actor]] = rename(answer, names)
			}
			text := fmt.Sprint(answers, rename(c.Outcome.Record, names))
			if smallest == "" || text < smallest {
				smallest = text
			}
		}
		set[smallest] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// rename swaps the actors' digits in the values of variables; "stopped at" carries a digit that names no actor.
func rename(text string, names []int) string {
	values, rest, found := strings.Cut(text, " stopped at ")
	out := strings.Map(func(c rune) rune {
		if c >= '0' && int(c-'0') < len(names) {
			return rune('0' + names[c-'0'])
		}
		return c
	}, values)
	if found {
		return out + " stopped at " + rest
	}
	return out
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, shorter := range permutations(n - 1) {
		for at := 0; at <= len(shorter); at++ {
			out = append(out, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return out
}

// checkThenWrite reads before it writes: two that read before either wrote have raced.
func checkThenWrite() *sim {
	one := []op{{"read", "session"}, {"read", "key"}, {"write", "key"}, {"write", "orders"}}
	return &sim{programs: [][]op{one, one}, violated: func(o schedule.Outcome) bool {
		return strings.Contains(o.Answers[0], "key=;") && strings.Contains(o.Answers[1], "key=;")
	}}
}

func TestACounterexampleHasTheFewestPreemptionsAndRepeats(t *testing.T) {
	var first *schedule.Schedule
	for range 50 {
		got := searched(t, checkThenWrite(), Options{Reduce: true, Symmetry: true, Classes: []string{"x", "x"}, Preemptions: schedule.Unbounded})
		if got.Violating != 1 || got.Schedule == nil || got.Schedule.Preemptions != 1 {
			t.Fatalf("got %d violating, counterexample %+v", got.Violating, got.Schedule)
		}
		if first == nil {
			first = got.Schedule
		}
		if diff := cmp.Diff(first, got.Schedule); diff != "" {
			t.Fatalf("another counterexample:\n%s", diff)
		}
	}
	first.Actors = []string{"one", "other"}
	path := filepath.Join(t.TempDir(), "schedule.json")
	if err := first.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := schedule.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Replay(t.Context(), checkThenWrite(), loaded)
	if err != nil {
		t.Fatal(err)
	}
	if again.Outcome.Signature() != first.Outcome.Signature() {
		t.Errorf("replayed to %s, want %s", again.Outcome.Signature(), first.Outcome.Signature())
	}
}

func TestAReplayThatDoesNotFitIsRefused(t *testing.T) {
	got := searched(t, checkThenWrite(), Options{Preemptions: schedule.Unbounded})
	other := &sim{programs: [][]op{{{"write", "x"}}, {{"write", "x"}}}}
	if _, err := Replay(t.Context(), other, got.Schedule); !errors.Is(err, ErrDiverged) {
		t.Errorf("got %v, want %v", err, ErrDiverged)
	}
}

func TestASystemThatDoesNotRepeatItselfIsReported(t *testing.T) {
	for _, bound := range []int{schedule.Unbounded, 2} {
		system := &sim{programs: [][]op{program("write", "a", 3), program("write", "a", 3)}}
		system.flip = func(run int) bool { return run > 3 && run < 8 }
		got := searched(t, system, Options{Preemptions: bound})
		if got.Complete || len(got.Open) == 0 || got.Exit() != 5 {
			t.Errorf("bound %d: complete %v, open %q, exit %d", bound, got.Complete, got.Open, got.Exit())
		}
	}
}

func TestOneSlipIsRetried(t *testing.T) {
	system := &sim{programs: [][]op{program("write", "a", 3), program("write", "a", 3)}}
	system.flip = func(run int) bool { return run == 5 }
	if got := searched(t, system, Options{Preemptions: schedule.Unbounded}); !got.Complete || got.Schedules != 20 {
		t.Errorf("complete %v after %d schedules, want all 20: %q", got.Complete, got.Schedules, got.Open)
	}
}

func TestASearchThatReachesALimitIsNotComplete(t *testing.T) {
	system := &sim{programs: [][]op{program("write", "a", 5), program("write", "a", 5)}}
	got := searched(t, system, Options{Preemptions: schedule.Unbounded, Schedules: 10})
	if got.Complete || got.Exit() != 5 || got.Schedules != 10 {
		t.Errorf("got %+v", got)
	}
}
