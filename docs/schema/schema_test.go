package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/subject"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
	"github.com/idemstorm/idemstorm/scenarios"
)

var update = flag.Bool("update", false, "write the schemas anew")

// described are the files and the types that they hold.
var described = []struct {
	name, title string
	of          reflect.Type
	yaml, lines bool
	kind        string // of lines: what the first one names
}{
	{Run, "run.json: a finished run", reflect.TypeFor[verdict.Run](), false, false, ""},
	{Verdict, "verdict: the judgement of one run, in run.json", reflect.TypeFor[verdict.Verdict](), false, false, ""},
	{RunEvent, "a line of run --json", reflect.TypeFor[reports.RunEvent](), false, false, ""},
	{PlanLine, "a line of plan.jsonl.gz: one operation, between a first and a last line", reflect.TypeFor[history.Operation](), false, true, "operations"},
	{HistoryLine, "a line of history.jsonl.gz: one fact, between a first and a last line", reflect.TypeFor[history.Event](), false, true, "history"},
	{Evidence, "evidence.json: the rows that a run left behind", reflect.TypeFor[evidence.Set](), false, false, ""},
	{Schedule, "schedule.json: a schedule that explore --replay plays again", reflect.TypeFor[schedule.Schedule](), false, false, ""},
	{Scenario, "a scenario file", reflect.TypeFor[scenarios.Scenario](), true, false, ""},
	{Target, "a target file", reflect.TypeFor[subject.Target](), true, false, ""},
	{Bench, "bench.json: a benchmark of claim strategies, every measurement of it", reflect.TypeFor[bench.Result](), false, false, ""},
}

// A schema that lacks a field, or has one that is gone, would refuse what the program writes, or promise what it does not.
func TestTheSchemasAreThoseOfTheTypes(t *testing.T) {
	source := readSource(t)
	for _, d := range described {
		g := &generator{source: source, yaml: d.yaml}
		whole := g.root(d.name, d.title, d.of)
		if d.lines {
			whole = framed(whole, d.kind)
		}
		want := encode(t, whole)
		if *update {
			if err := os.WriteFile(d.name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(d.name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what its type says; go test ./docs/schema -run TestTheSchemas -update writes it (-type +file):\n%s", d.name, diff)
		}
	}
	if len(described) != len(Names) {
		t.Errorf("%d schemas are described, and %d named", len(described), len(Names))
	}
}

// framed is a file of lines: a first one that names its kind and version, content, and a last one with the number of lines between.
func framed(content object, kind string) object {
	out := object{}
	for _, key := range []string{"$schema", "$id", "title", "$defs"} {
		if content[key] != nil {
			out[key] = content[key]
			delete(content, key)
		}
	}
	out["oneOf"] = []object{
		{
			"title": "first line", "type": "object", "additionalProperties": false, "required": []string{"idemstorm", "schema"},
			"properties": object{"idemstorm": object{"const": kind}, "schema": object{"const": history.Schema}},
		},
		content,
		{
			"title": "last line", "type": "object", "additionalProperties": false, "required": []string{"idemstorm", "lines"},
			"properties": object{"idemstorm": object{"const": "end"}, "lines": object{"type": "integer", "minimum": 0}},
		},
	}
	return out
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEverySchemaIsOneOfDraft202012AndDescribesItsFields(t *testing.T) {
	for _, name := range Names {
		s, err := Compile(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.DraftVersion != 2020 || s.Title == "" {
			t.Errorf("%s is of draft %d, with title %q", name, s.DraftVersion, s.Title)
		}
	}
}
