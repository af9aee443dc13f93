package harness_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/loopback"
	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

// buildProfiled compiles the service in testdata once.
var buildProfiled = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "profiled-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "profiled")
	out, err := exec.Command("go", "build", "-o", path, "./testdata/profiled").CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return path, nil
})

// profiled is the target file of testdata for a profile, with one row broken or none.
func profiled(t *testing.T, profile, broken string) subject.Target {
	t.Helper()
	program, err := buildProfiled()
	if err != nil {
		t.Fatal(err)
	}
	return targetOf(t, "testdata/profiled/profiled.yaml", "PROFILE", profile, "BROKEN", broken, "./profiled", program)
}

// targetOf is a target file, changed in pairs of what and by what.
func targetOf(t *testing.T, file string, changes ...string) subject.Target {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "target.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(changes...).Replace(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	target, err := subject.LoadTarget(path)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// storm runs a built-in scenario on a target.
func storm(t *testing.T, lab *harness.Lab, target subject.Target, scenario string) verdict.Run {
	t.Helper()
	s, err := scenarios.FindForTarget(scenario)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Suits(target); err != nil {
		t.Fatal(err)
	}
	run, err := harness.Run(t.Context(), lab, harness.Options{Scenario: s, Target: &target, Seed: 1, Dir: filepath.Join(t.TempDir(), "run")})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func openTargetLab(t *testing.T) *harness.Lab {
	t.Helper()
	lab, err := harness.OpenLab(context.Background(), harness.LabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

func violated(run verdict.Run) (ids []string) {
	for _, f := range run.Verdict.Findings {
		if f.Status == verdict.Violated {
			ids = append(ids, f.Invariant)
		}
	}
	return ids
}

// scenarioOf is the one that brings a situation about.
func scenarioOf(s contract.Situation) string {
	if s == contract.StoreUnreachable {
		return "outage"
	}
	return "answers"
}

func TestAServiceThatKeepsToItsProfileIsClean(t *testing.T) {
	lab := openTargetLab(t)
	for profile, list := range map[string][]string{
		"adr0138": {"answers", "outage"}, "ietf": {"answers", "outage", "race", "mismatch", "storm"}, "stripe": {"answers", "outage"},
	} {
		for _, scenario := range list {
			t.Run(profile+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				run := storm(t, lab, profiled(t, profile, ""), scenario)
				if list := complaints(run); len(list) > 0 { // doubts are about the machine that the test runs on
					t.Fatalf("%+v", list)
				}
				if scenario == "answers" {
					everyRowIsJudged(t, run)
				}
			})
		}
	}
}

func complaints(run verdict.Run) (list []verdict.Finding) {
	return slices.DeleteFunc(slices.Clone(run.Verdict.Findings), func(f verdict.Finding) bool {
		return f.Status == verdict.Held || f.Status == verdict.NotJudged
	})
}

func everyRowIsJudged(t *testing.T, run verdict.Run) {
	t.Helper()
	for _, s := range contract.Situations {
		i := slices.IndexFunc(run.Verdict.Findings, func(f verdict.Finding) bool { return f.Invariant == s.Invariant() })
		if s == contract.StoreUnreachable {
			continue // of another scenario
		}
		if i < 0 || run.Verdict.Findings[i].Status != verdict.Held {
			t.Errorf("%s was not judged", s.Invariant())
		}
	}
}

func TestAServiceThatBreaksOneRowOfItsProfileIsConvictedOfThatRow(t *testing.T) {
	lab := openTargetLab(t)
	for _, profile := range contract.ProfileNames() {
		for _, situation := range contract.Situations {
			t.Run(profile+"/"+string(situation), func(t *testing.T) {
				t.Parallel()
				run := storm(t, lab, profiled(t, profile, string(situation)), scenarioOf(situation))
				if got := violated(run); !slices.Contains(got, situation.Invariant()) {
					t.Errorf("violated %v, want %s: %+v", got, situation.Invariant(), run.Verdict)
				}
				if rows := rowsAmong(violated(run), situation); len(rows) > 0 {
					t.Errorf("the row %s alone is broken, and these are accused too: %v, %+v", situation, rows, complaints(run))
				}
			})
		}
	}
}

// rowsAmong are the rows that are accused beside a broken one, without those that break with it: who refuses what is fresh treats nothing as
// promised, and a request that is in flight at one moment is completed the next.
func rowsAmong(ids []string, broken contract.Situation) []string {
	return slices.DeleteFunc(ids, func(id string) bool {
		with := broken == contract.FirstUse || broken == contract.OtherRequest && id == contract.OtherInFlight.Invariant()
		return !strings.HasPrefix(id, "answer-") || id == broken.Invariant() || with
	})
}

// A service that runs already keeps its rows: those of before are not this run's, and its database can be taken away behind the proxy that it was
// given.
func TestARunningServiceIsStormedUnderKeysOfItsOwn(t *testing.T) {
	lab := openTargetLab(t)
	server, url, listen := startProfiled(t)
	for range 2 {
		target := targetOf(t, "testdata/profiled/running.yaml", "URL", server, "DATABASE", url, "LISTEN", listen)
		for _, scenario := range []string{"race", "outage"} {
			run := storm(t, lab, target, scenario)
			if list := complaints(run); len(list) > 0 {
				t.Fatalf("%s: %+v", scenario, list)
			}
			if run.Verdict.Findings[0].Looked == 0 || strings.Contains(run.Reproduce, "--plan") {
				t.Errorf("%s: looked at %d keys, %s", scenario, run.Verdict.Findings[0].Looked, run.Reproduce)
			}
		}
	}
}

// startProfiled starts the service as its team would, on a database behind a port that is free for a proxy.
func startProfiled(t *testing.T) (server, database, listen string) {
	t.Helper()
	program, err := buildProfiled()
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	var ports [2]int
	for i := range ports {
		if ports[i], err = loopback.FreePort(); err != nil {
			t.Fatal(err)
		}
	}
	listen, database = loopback.Addr(ports[1]), cluster.DSN("postgres")
	told, err := pgcluster.Via(database, listen)
	if err != nil {
		t.Fatal(err)
	}
	proc, err := subject.Launch(subject.Command{
		Path: program, Args: []string{"-profile", "stripe"}, Log: filepath.Join(t.TempDir(), "log"),
		Env: []string{"DATABASE_URL=" + told, "PORT=" + strconv.Itoa(ports[0])},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(proc.Kill(), cluster.Stop()); err != nil {
			t.Error(err)
		}
	})
	awaitListener(t, loopback.Addr(ports[0]))
	return "http://" + loopback.Addr(ports[0]), database, listen
}

// awaitListener waits until somebody listens at an address.
func awaitListener(t *testing.T, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("nobody listens at %s: %v", addr, err)
		}
	}
}

// Two sources are compared: the service that forgets to write its log line is seen, and not convicted.
func TestEvidenceFromSeveralPlacesIsCompared(t *testing.T) {
	lab := openTargetLab(t)
	for name, want := range map[string]int{"": verdict.ExitHeld, "log": verdict.ExitInconclusive} {
		program, err := buildProfiled()
		if err != nil {
			t.Fatal(err)
		}
		target := targetOf(t, "testdata/profiled/logged.yaml", "./profiled", program, "FORGETS", name)
		run := storm(t, lab, target, "race")
		if got := run.Verdict.Exit(); got != want {
			t.Errorf("forgets %q: exit %d, want %d: %+v", name, got, want, complaints(run))
		}
	}
}

// Nothing is asked of a service whose first request is refused: what would be judged then means nothing.
func TestAFileThatDoesNotFitIsNotStormed(t *testing.T) {
	lab := openTargetLab(t)
	program, err := buildProfiled()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.FindForTarget("race")
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{"/orders\n": "request.path", "token: reference": "evidence.http", "Bearer ann": "request.body"} {
		to := map[string]string{"/orders\n": "/order\n", "token: reference": "token: item", "Bearer ann": ""}[from]
		target := targetOf(t, "testdata/profiled/profiled.yaml", "PROFILE", "ietf", "BROKEN", "", "./profiled", program, from, to)
		_, err := harness.Run(t.Context(), lab, harness.Options{Scenario: s, Target: &target, Seed: 1, Dir: t.TempDir()})
		if !errors.Is(err, harness.ErrTargetFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", from, err, want)
		}
	}
}
