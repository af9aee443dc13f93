package lab_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
)

// buildOrders compiles the order service in testdata once; its folder is removed with the binary's under test.
var buildOrders = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "orders")
	out, err := exec.Command("go", "build", "-o", path, "./testdata/orders").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return path, nil
})

// orders is the target file of testdata, changed in pairs of what and by what.
func orders(t testing.TB, changes ...string) subject.Target {
	t.Helper()
	program, err := buildOrders()
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/orders/orders.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := filepath.Abs("testdata/orders/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(changes...).Replace(string(text))
	changed = strings.NewReplacer("./orders", program, "schema.sql", schema).Replace(changed)
	path := filepath.Join(t.TempDir(), "orders.yaml")
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	target, err := subject.LoadTarget(path)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func openForeign(t testing.TB, o lab.ForeignOptions) *lab.Foreign {
	t.Helper()
	o.Dir = t.TempDir()
	f, err := lab.OpenForeign(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

func searchForeign(t testing.TB, o lab.ForeignOptions, all bool) schedule.Result {
	t.Helper()
	result, err := openForeign(t, o).Explore(t.Context(), explore.Options{Preemptions: schedule.Unbounded, Symmetry: true, Reduce: true, KeepGoing: all})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Ways of the order service that are right; the empty one is that of its target file.
const (
	inTransaction   = "[./orders, -mode, transaction]"
	claimFirst      = "[./orders, -mode, claim-first]"
	checkThenInsert = "[./orders, -mode, check-then-insert]"
	simple          = ", -simple]"
)

func TestARightServiceOfSomebodyElsesIsCleanAndComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		changes []string
		options lab.ForeignOptions
	}{
		{"duplicates wait", []string{"uuid4", "quoted"}, lab.ForeignOptions{}},
		{"claim first", []string{inTransaction, claimFirst, "name: orders", "name: orders\nreduction: true"}, lab.ForeignOptions{}},
		{"simple protocol", []string{inTransaction, strings.Replace(claimFirst, "]", simple, 1)}, lab.ForeignOptions{}},
		{"another body", []string{inTransaction, claimFirst, "auth:", "answers: {in_flight: [409], mismatch: [422]}\nauth:"}, lab.ForeignOptions{Case: "mismatch"}},
		{"by token", []string{"request_key AS key", "reference AS token", "shop_orders\n", "shop_orders\n  by: token\n"}, lab.ForeignOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Target = orders(t, c.changes...)
			clean(t, searchForeign(t, c.options, true))
		})
	}
}

func TestABrokenServiceOfSomebodyElsesIsConvictedWithACounterexampleThatReplays(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]string{
		"extended protocol": checkThenInsert,
		"simple protocol":   strings.Replace(checkThenInsert, "]", simple, 1),
	} {
		t.Run(name, func(t *testing.T) {
			o := lab.ForeignOptions{Target: orders(t, inTransaction, way)}
			got := searchForeign(t, o, false)
			if got.Exit() != 1 || got.Schedule == nil || got.Schedule.Outcome.Violated[0].Invariant != "at-most-once" {
				t.Fatalf("%s: %+v", got.Sentence(), got.Schedule)
			}
			path := filepath.Join(t.TempDir(), "schedule.json")
			if err := got.Schedule.Save(path); err != nil {
				t.Fatal(err)
			}
			replaysForeign(t, path, shape(got.Schedule))
		})
	}
}

// replaysForeign plays a saved schedule on a fresh lab, put together from what the file says, and wants it to fit first time.
func replaysForeign(t *testing.T, path string, want []string) {
	t.Helper()
	saved, err := schedule.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	o := lab.ForeignOptions{}.FromSetup(saved.Setup)
	if o.Target, err = subject.LoadTarget(saved.Setup["target"]); err != nil {
		t.Fatal(err)
	}
	f := openForeign(t, o)
	scenario, err := f.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	again, err := explore.Replay(t.Context(), f.System(scenario), saved)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withoutKeys(want), withoutKeys(shape(again))); diff != "" {
		t.Errorf("it ended otherwise:\n%s", diff)
	}
}

// withoutKeys leaves out literals, which the simple protocol puts into the text.
func withoutKeys(lines []string) (out []string) {
	for _, line := range lines {
		for n, part := range strings.Split(line, "'") {
			if n%2 == 0 {
				out = append(out, part)
			}
		}
	}
	return out
}

// Jobs beside requests do not wreck a search: what is broken is found all the same, and what is right is not called clean.
func TestAServiceWithJobsOfItsOwnIsExploredAndTheClaimLeftOpen(t *testing.T) {
	t.Parallel()
	busy := func(way string) subject.Target {
		return orders(t, inTransaction, strings.Replace(way, "]", ", -busy]", 1))
	}
	right := searchForeign(t, lab.ForeignOptions{Target: busy(inTransaction)}, true)
	named := slices.ContainsFunc(right.Open, func(why string) bool { return strings.Contains(why, "UPDATE heartbeat") })
	if right.Exit() != 5 || !named || right.Violating > 0 {
		t.Errorf("%s, open %q", right.Sentence(), right.Open)
	}
	broken := searchForeign(t, lab.ForeignOptions{Target: busy(checkThenInsert)}, false)
	if broken.Exit() != 1 {
		t.Errorf("%s, open %q", broken.Sentence(), broken.Open)
	}
}

func TestARightServiceOfSomebodyElsesSurvivesEveryCrashPoint(t *testing.T) {
	t.Parallel()
	target := orders(t, "auth:", "answers: {in_flight: []}\nrecovers_within: 5s\nauth:")
	const searches = 3
	for range searches {
		got, err := openForeign(t, lab.ForeignOptions{Target: target}).Crash(t.Context(), lab.CrashOptions{})
		if got.Violating > 0 {
			t.Fatalf("%s: %+v", got.Sentence(), got.Points)
		}
		t.Logf("%s: %d points in %v; %v; open %q", got.Name, len(got.Points), got.Took, err, got.Open)
		if err == nil && got.Exit() == 0 && len(got.Points) == 5*13 {
			return
		}
	}
	t.Errorf("none of %d searches was whole", searches)
}

// A claim that is committed first, and never given up, is stuck after a crash. That is a fault only of a service that states otherwise.
func TestAKeyThatStaysInFlightIsAFaultOnlyWhereRecoveryIsStated(t *testing.T) {
	t.Parallel()
	target := orders(t, inTransaction, claimFirst, "auth:", "answers: {in_flight: [409]}\nrecovers_within: 300ms\nauth:")
	got, err := openForeign(t, lab.ForeignOptions{Target: target}).Crash(t.Context(), lab.CrashOptions{})
	stuck := slices.ContainsFunc(got.Points, func(p schedule.CrashPoint) bool {
		return len(p.Outcome.Violated) == 1 && p.Outcome.Violated[0].Invariant == "recovers" && p.Outcome.Executions == 0
	})
	if err != nil || got.Exit() != 1 || !stuck {
		t.Errorf("%s; %v", got.Sentence(), err)
	}
}

// Who completes the record after the answer leaves a duplicate unanswered for a moment. That is not yet a key that never recovers.
func TestAServiceThatCompletesItsRecordAfterItsAnswerIsGivenTheTimeThatItStates(t *testing.T) {
	t.Parallel()
	const late = "[./orders, -mode, complete-late]"
	target := orders(t, inTransaction, late, "auth:", "answers: {in_flight: [409]}\nrecovers_within: 5s\nauth:")
	if got := searchForeign(t, lab.ForeignOptions{Target: target}, true); got.Violating > 0 || got.Schedules < 2 {
		t.Errorf("%s: %+v", got.Sentence(), got.Schedule)
	}
}

// A request that waits in the server's memory shows nothing to the database. The others go on without it, which the result says.
func TestALockInTheMemoryOfOneProcessIsNoRaceThereAndOneBetweenTwo(t *testing.T) {
	t.Parallel()
	target := orders(t, inTransaction, "[./orders, -mode, one-by-one]")
	one := searchForeign(t, lab.ForeignOptions{Target: target, Shared: true, Quiet: 300 * time.Millisecond}, true)
	said := slices.ContainsFunc(one.Open, func(why string) bool { return strings.Contains(why, "request 2 did nothing for 300ms") })
	if one.Exit() != 5 || one.Violating > 0 || one.Schedules == 0 || !said {
		t.Errorf("in one process: %s, open %q", one.Sentence(), one.Open)
	}
	if two := searchForeign(t, lab.ForeignOptions{Target: target}, false); two.Exit() != 1 {
		t.Errorf("in two: %s, open %q", two.Sentence(), two.Open)
	}
}

// A file that is wrong about its server is answered before the search, by one line that names the field.
func TestATargetFileThatIsWrongAboutItsServerIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		changes []string
		want    []string
	}{
		{"SQL with an error", []string{"FROM shop_orders", "FORM shop_orders"}, []string{"evidence.executions: the database refuses the query", "syntax error"}},
		{"no column to find rows by", []string{"request_key AS key", "request_key"}, []string{"evidence.executions: its columns are id, request_key", "name one of them key"}},
		{"rows of another table", []string{"id, request_key AS key, item, quantity FROM shop_orders", "1 AS id, 'x' AS key"}, []string{"evidence.executions: shows 0 rows"}},
		{"a request that is refused", []string{"X-Tenant: acme", "X-Tenant: other"}, []string{"request: POST /orders was answered 400", "auth"}},
		{"the wrong variable for the port", []string{"SHOP_PORT", "PORT"}, []string{"start.ready: ", "which it got as PORT"}},
		{"a schema that is not there", []string{"{file: schema.sql}", "{file: shcema.sql}"}, []string{"schema.file: ", "starts in the target file's folder"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := lab.OpenForeign(t.Context(), lab.ForeignOptions{Target: orders(t, c.changes...), Dir: t.TempDir()})
			if err == nil {
				t.Fatal("it was accepted", f.Close(context.Background()))
			}
			for _, want := range append(c.want, "orders.yaml: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
}

func TestWhatCannotBeExploredOfATargetIsRefused(t *testing.T) {
	t.Parallel()
	noOther := orders(t, "other_body", "# other_body")
	for _, o := range []lab.ForeignOptions{
		{Target: noOther, Case: "mismatch"},
		{Target: noOther, Case: "erase"},
		{Target: noOther, Requests: 9},
	} {
		if err := o.Validate(); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
