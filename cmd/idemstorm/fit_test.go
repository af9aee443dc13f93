package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/idemstorm/idemstorm/docs/schema"
	"github.com/idemstorm/idemstorm/harness/subject"
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
	refuse(t, schema.Scenario, soundScenario, func(text []byte) error {
		_, err := scenarios.Parse("mine.yaml", text)
		return err
	}, [][2]string{
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
		{"name: mine", "name: mine\nversion: 2"},
	})
}

const soundTarget = `name: shop
start:
  command: [node, server.js]
request: {path: /orders}
evidence:
  executions: SELECT id, key FROM orders
`

func TestABrokenTargetIsRefusedByTheSchemaAndByTheProgram(t *testing.T) {
	refuse(t, schema.Target, soundTarget, func(text []byte) error {
		_, err := subject.ParseTarget("shop.yaml", text)
		return err
	}, [][2]string{
		{"name: shop\n", ""},
		{"name: shop", "name: [shop]"},
		{"[node, server.js]", "{node: server.js}"},
		{"{path: /orders}", "{}"},
		{"{path: /orders}", "{path: /orders, boddy: x}"},
		{"  executions: SELECT id, key FROM orders\n", "  by: key\n"},
		{"name: shop", "name: shop\nkey: {format: uuid9}"},
		{"name: shop", "name: shop\nversion: 2"},
	})
}

// The example in the documentation is the one that people copy.
func TestTheTargetFileOfTheDocumentationFitsItsSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, "docs", "target-file.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Fatal("there is no example")
	}
	for _, block := range blocks {
		value, err := asJSON(block[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(schema.Target, value); err != nil {
			t.Error(err)
		}
	}
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// refuse holds a sound text, and that text with one thing replaced, against the schema and the program: both take the one and refuse the others.
func refuse(t *testing.T, name, sound string, parse func([]byte) error, replaced [][2]string) {
	t.Helper()
	verdicts := func(text string) (bySchema, byProgram error) {
		value, err := asJSON([]byte(text))
		if err == nil {
			err = schema.Check(name, value)
		}
		return err, parse([]byte(text))
	}
	if bySchema, byProgram := verdicts(sound); bySchema != nil || byProgram != nil {
		t.Fatalf("the sound one is refused: by the schema %v, by the program %v", bySchema, byProgram)
	}
	for _, c := range replaced {
		text := strings.Replace(sound, c[0], c[1], 1)
		if text == sound {
			t.Fatalf("%q is not in it", c[0])
		}
		if bySchema, byProgram := verdicts(text); bySchema == nil || byProgram == nil {
			t.Errorf("%q for %q: the schema says %v, the program %v", c[1], c[0], bySchema, byProgram)
		}
	}
}
