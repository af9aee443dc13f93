// Package schema holds the JSON Schemas (draft 2020-12) of every file that Idemstorm writes or reads, and of what it prints for programs.
//
// They are made from the Go types and their comments, and a test holds them against both: a field that a schema lacks fails the build.
// Fields may be added within a version; one that changes its meaning or goes away takes a new version.
package schema

import (
	"bytes"
	"embed"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed *.json
var files embed.FS

// Base is where the schemas' identifiers begin; their names are the files' of this folder.
const Base = "https://github.com/idemstorm/idemstorm/docs/schema/"

// The schemas, by file.
const (
	Run         = "run.json"
	Verdict     = "verdict.json"
	RunEvent    = "run-event.json"
	PlanLine    = "plan-line.json"
	HistoryLine = "history-line.json"
	Evidence    = "evidence.json"
	Schedule    = "schedule.json"
	Scenario    = "scenario.json"
	Target      = "target.json"
	Bench       = "bench.json"
)

// Names are all schemas, in the order of the documentation.
var Names = []string{Run, Verdict, RunEvent, PlanLine, HistoryLine, Evidence, Schedule, Scenario, Target, Bench}

// Compile prepares the schema of that name; formats such as dates are held too.
func Compile(name string) (*jsonschema.Schema, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(Base+name, doc); err != nil {
		return nil, fmt.Errorf("compile the schema %s: %w", name, err)
	}
	return c.Compile(Base + name)
}

// Check holds JSON text against the schema of that name.
func Check(name string, text []byte) error {
	s, err := Compile(name)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read what is to be checked: %w", err)
	}
	return s.Validate(value)
}
