package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/docs/schema"
	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

// kept holds the files of the first version, as a program of that time wrote them. They are never written anew: whoever kept a run must be
// able to read it.
const kept = "testdata/v1"

func TestARunOfTheFirstVersionIsJudgedAsItWas(t *testing.T) {
	dir := filepath.Join(kept, "run")
	before, err := verdict.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	now, err := harness.Judge(dir)
	if err != nil {
		t.Fatal(err)
	}
	was := map[string]verdict.Status{}
	for _, f := range before.Verdict.Findings {
		was[f.Invariant] = f.Status
	}
	for _, f := range now.Verdict.Findings {
		if status, known := was[f.Invariant]; known && status != f.Status {
			t.Errorf("%s was %v, and is %v", f.Invariant, status, f.Status)
		}
	}
	if len(was) == 0 || now.Verdict.Exit() != before.Verdict.Exit() {
		t.Errorf("exit code %d, and it was %d", now.Verdict.Exit(), before.Verdict.Exit())
	}
	if _, err := schedule.Load(filepath.Join(kept, "schedule.json")); err != nil {
		t.Error(err)
	}
}

func TestTheFilesOfTheFirstVersionFitTheirSchemas(t *testing.T) {
	fitRun(t.Errorf, filepath.Join(kept, "run"))
	fit(t.Errorf, schema.Schedule, filepath.Join(kept, "schedule.json"))
	run, err := verdict.Load(filepath.Join(kept, "run"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(run.Verdict)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Check(schema.Verdict, text); err != nil {
		t.Error(err)
	}
}

// A newer file may mean something else by what an older program can read of it.
func TestAFileOfANewerVersionIsRefusedInOneLine(t *testing.T) {
	load := map[string]func(path string) error{
		"run.json": func(path string) error {
			_, err := harness.Judge(filepath.Dir(path))
			return err
		},
		"evidence.json": func(path string) error {
			_, err := evidence.Load(path)
			return err
		},
		"schedule.json": func(path string) error {
			_, err := schedule.Load(path)
			return err
		},
		"target.yaml": func(path string) error {
			_, err := subject.LoadTarget(path)
			return err
		},
		"scenario.yaml": func(path string) error {
			_, err := scenarios.Load(path)
			return err
		},
	}
	for name, read := range load {
		text := `{"schema": 2, "version": 2, "verdict": 7, "steps": "many", "orders": {}, "name": ["a", "list"]}`
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := read(path)
		if err == nil || !strings.Contains(err.Error(), "use a newer idemstorm") || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
