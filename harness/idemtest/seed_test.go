package idemtest_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/idemtest"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// artefacts is a test of a given name whose files are kept in a folder.
type artefacts struct {
	testing.TB
	dir, name string
}

func (a artefacts) ArtifactDir() string { return a.dir }
func (a artefacts) Name() string        { return a.name }

// stormed is the plan of a run by a test of a name.
func stormed(t *testing.T, name string, e idemtest.Endpoint, service *counting) string {
	t.Helper()
	dir := t.TempDir()
	r := record(t, func(r testing.TB) {
		idemtest.Run(artefacts{r, dir, name}, idemtest.Handler(service), e, idemtest.Count(service.count))
	})
	found, err := filepath.Glob(filepath.Join(dir, "*", "race"))
	if r.failed || err != nil || len(found) != 1 {
		t.Fatalf("%v, %v: %s", found, err, r.said.String())
	}
	run, err := verdict.Load(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return run.PlanDigest
}

func TestASeedMakesTheSameRequestsAgainAndACallOfItsOwnMakesOthers(t *testing.T) {
	e := idemtest.Endpoint{Path: "/charges", Body: "{{number}}", Scenarios: []string{"race"}, Keys: 10, Seed: 5}
	service := func() *counting { return &counting{charges: map[string]int{}} }
	one := service()
	idemtest.Forget("TestOne") // as a new test binary does
	first := stormed(t, "TestOne", e, one)
	if second := stormed(t, "TestOne", e, one); second == first {
		t.Error("two calls on one service make the same keys")
	}
	idemtest.Forget("TestOne")
	if again := stormed(t, "TestOne", e, service()); again != first {
		t.Error("the seed does not make the same requests again")
	}
	if other := stormed(t, "TestTwo", e, service()); other == first {
		t.Error("two tests with one seed make the same keys")
	}
}

func TestKeysThatAServiceHasExecutedAlreadyAreRefused(t *testing.T) {
	e := idemtest.Endpoint{Path: "/charges", Scenarios: []string{"race"}, Keys: 10, Seed: 6}
	service := &counting{charges: map[string]int{}}
	idemtest.Forget("TestKept")
	stormed(t, "TestKept", e, service)
	idemtest.Forget("TestKept")
	r := record(t, func(r testing.TB) {
		idemtest.Run(artefacts{r, t.TempDir(), "TestKept"}, idemtest.Handler(service), e, idemtest.Count(service.count))
	})
	r.mustSay(t, "under keys that seed 6 is about to make", "start from an empty database, or take another seed")
}

func TestTheEnvironmentsSeedComesFirst(t *testing.T) {
	t.Setenv(idemtest.SeedVariable, "41")
	service := &counting{charges: map[string]int{}, always: true}
	e := idemtest.Endpoint{Path: "/charges", Scenarios: []string{"race"}, Keys: 10, Seed: 6}
	run := func(t testing.TB) { idemtest.Run(t, idemtest.Handler(service), e, idemtest.Count(service.count)) }
	record(t, run).mustSay(t, "IDEMTEST_SEED=41 ")
	if err := os.Setenv(idemtest.SeedVariable, "forty"); err != nil {
		t.Fatal(err)
	}
	record(t, run).mustSay(t, `IDEMTEST_SEED="forty" is no seed`)
}

// What is printed runs in a shell, whatever the subtest is called.
func TestTheCommandThatRunsATestAgainIsOneOfTheShells(t *testing.T) {
	service := &counting{charges: map[string]int{}, always: true}
	e := idemtest.Endpoint{Path: "/charges", Scenarios: []string{"race"}, Keys: 10, Seed: 6}
	r := record(t, func(r testing.TB) {
		idemtest.Run(artefacts{r, t.TempDir(), "TestIt/it's_(odd)"}, idemtest.Handler(service), e, idemtest.Count(service.count))
	})
	r.mustSay(t, `'^TestIt$/^it'\''s_\(odd\)$'`)
}

// timed is a test whose time is up.
type timed struct{ testing.TB }

func (timed) Deadline() (time.Time, bool) { return time.Now(), true }

func TestATestWhoseTimeIsUpSaysSo(t *testing.T) {
	service := &counting{charges: map[string]int{}}
	r := record(t, func(r testing.TB) {
		idemtest.Run(timed{r}, idemtest.Handler(service), idemtest.Endpoint{Path: "/charges"}, idemtest.Count(service.count))
	})
	r.mustSay(t, "raise go test's -timeout")
}
