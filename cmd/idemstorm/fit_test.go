package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemstorm/idemstorm/docs/schema"
	"github.com/idemstorm/idemstorm/scenarios"
)

// runFiles are the files of a run directory that have a schema.
var runFiles = map[string]string{
	"run.json": schema.Run, "plan.jsonl.gz": schema.PlanLine, "history.jsonl.gz": schema.HistoryLine, "evidence.json": schema.Evidence,
	"scenario.yaml": schema.Scenario,
}

func fitRun(complain func(string, ...any), dir string) {
	for file, name := range runFiles {
		fit(complain, name, filepath.Join(dir, file))
	}
}

// fit holds a file against a schema: JSON, YAML, or lines of JSON, packed or not.
func fit(complain func(string, ...any), name, path string) {
	s, err := schema.Compile(name)
	if err != nil {
		complain("%v", err)
		return
	}
	texts, err := textsOf(path)
	if err != nil || len(texts) == 0 {
		complain("%s: %d texts, %v", path, len(texts), err)
	}
	for i, text := range texts {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = s.Validate(value)
		}
		if err != nil {
			complain("%s, text %d does not fit %s: %v\n%.300s", path, i+1, name, err, text)
			return
		}
	}
}

func textsOf(path string) (texts [][]byte, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch base := filepath.Base(path); {
	case strings.HasSuffix(base, ".jsonl.gz"):
		zip, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return linesOf(bufio.NewReader(zip))
	case strings.HasSuffix(base, ".jsonl"):
		return linesOf(bufio.NewReader(bytes.NewReader(data)))
	case strings.HasSuffix(base, ".yaml"):
		data, err = asJSON(data)
	}
	return [][]byte{data}, err
}

func linesOf(r *bufio.Reader) (lines [][]byte, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		lines = append(lines, bytes.Clone(s.Bytes()))
	}
	return lines, s.Err()
}

// asJSON is a YAML file as schemas see it.
func asJSON(text []byte) ([]byte, error) {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// fits is the same for scripts: fits SCHEMA FILE
func fits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fits SCHEMA FILE")
	}
	fit(ts.Fatalf, args[0], ts.MkAbs(args[1]))
}

// fitsRun does it for all files of a run directory: fits-run DIR
func fitsRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fits-run DIR")
	}
	fitRun(ts.Fatalf, ts.MkAbs(args[0]))
}

func TestEveryBuiltInScenarioFitsTheSchemaAsWrittenAndAsRun(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "scenarios", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		fit(t.Errorf, schema.Scenario, file)
		s, err := scenarios.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		text, err := asJSON(whole)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(schema.Scenario, text); err != nil {
			t.Errorf("%s, as a run keeps it: %v", file, err)
		}
	}
}

const soundScenario = `name: mine
summary: One race.
invariants: [at-most-once]
workload:
  phases:
    - {name: race, shape: race, keys: 3, duplicates: 2, deadline: 1s}
faults:
  - {kind: path-refuse, at: 1s, for: 1s, on: store}
gates:
  - {group: all, quantile: 0.99, limit: 1s}
`

// What the schema refuses the program refuses too: an editor that checks while one writes must not know better.
func TestABrokenScenarioIsRefusedByTheSchemaAndByTheProgram(t *testing.T) {
	if err := refused(soundScenario); err != nil {
		t.Fatalf("the sound scenario is refused: %v", err)
	}
	for _, c := range [][2]string{
		{"name: mine", "name: Mine!"},
		{"name: mine", "sumary: x\nname: mine"},
		{"summary: One race.\n", ""},
		{"summary: One race.", "summary: [one, race]"},
		{"[at-most-once]", "[at-most-twice]"},
		{"[at-most-once]", "[]"},
		{"shape: race", "shape: chase"},
		{"keys: 3", "keys: three"},
		{"keys: 3", "keys: -3"},
		{"deadline: 1s", "deadline: soon"},
		{"deadline: 1s", "deadline: 1s, hot: 1.5"},
		{"deadline: 1s", "deadline: 1s, loop: round"},
		{"kind: path-refuse", "kind: path-refused"},
		{"on: store", "on: shelf"},
		{"for: 1s, ", ""},
		{"quantile: 0.99", "quantile: 0.98"},
		{"limit: 1s", "limit: 1s, kind: lateness2"},
		{"name: mine", "name: mine\nschema: 2"},
	} {
		text := strings.Replace(soundScenario, c[0], c[1], 1)
		if text == soundScenario {
			t.Fatalf("%q is not in the scenario", c[0])
		}
		if err := refused(text); err == nil {
			t.Errorf("%q for %q is not refused by both", c[1], c[0])
		}
	}
}

// refused is an error when both refuse a scenario, nil when both take it; it panics when they differ, with what each says.
func refused(text string) error {
	value, bySchema := asJSON([]byte(text))
	if bySchema == nil {
		bySchema = schema.Check(schema.Scenario, value)
	}
	_, byProgram := scenarios.Parse("mine.yaml", []byte(text))
	if (bySchema == nil) != (byProgram == nil) {
		panic(fmt.Sprintf("schema: %v\nprogram: %v\n%s", bySchema, byProgram, text))
	}
	return byProgram
}
