package schedule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAScheduleSurvivesItsFileAndLeavesNoOther(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "schedule.json")
	step := Step{Actor: 1, Conn: 2, Kind: Execute, SQL: "SELECT '<&>'", Params: []string{"$1 = NULL"}}
	want := &Schedule{
		Schema: Schema, Name: "two", Setup: map[string]string{"case": "duplicates"}, Actors: []string{"request 1", "request 2"}, Breaks: 1,
		Steps: []Taken{{
			Step: step, Switch: true, Choices: 2, Ended: []Ended{{Step: step, End: "answered", Tags: []string{"SELECT 1"}, Rows: 1}},
			Blocked: []Blocked{{Step: step, On: []int{0}}}, Answers: []Answer{{Actor: 1, Status: 201, Class: "fresh"}},
		}},
		Outcome: Outcome{Executions: 2, Record: "completed", Violated: []Violation{{Invariant: "at-most-once", Sentence: "Twice."}}},
	}
	for range 2 { // the second replaces the first
		if err := want.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- saved, + loaded:\n%s", diff)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

func TestAFileThatIsNoScheduleOfThisVersionIsRefused(t *testing.T) {
	for content, want := range map[string]string{"": "unexpected end", `{"schema":`: "unexpected end", `{"schema": 99}`: "schema version 99 is newer", `{"schema": 1, "steps": [{"answers": [{"actor": 3}]}]}`: "actor 0, and there are 0"} {
		path := filepath.Join(t.TempDir(), "schedule.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q gives %v, want it to name the file and %q", content, err, want)
		}
	}
}
