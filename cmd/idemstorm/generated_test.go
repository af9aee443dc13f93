package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/scenarios"
	"github.com/idemstorm/idemstorm/target/zoo"
)

var update = flag.Bool("update", false, "write the generated documents anew")

// invariantEntry is what the documentation says of one invariant.
type invariantEntry struct {
	check.Invariant
	Needed    []string // names of the evidence that it needs
	Scenarios []string // that claim to judge it
	Variants  []string // that break it
}

func invariantEntries(t *testing.T) (out []invariantEntry) {
	t.Helper()
	all := builtIn(t)
	for _, inv := range check.Invariants {
		e := invariantEntry{Invariant: inv}
		for _, need := range inv.Needs {
			e.Needed = append(e.Needed, need.Name)
		}
		for _, s := range all {
			if slices.Contains(s.Invariants, inv.ID) {
				e.Scenarios = append(e.Scenarios, s.Name)
			}
		}
		for _, v := range zoo.All {
			if v.Invariant == inv.ID {
				e.Variants = append(e.Variants, v.Name)
			}
		}
		out = append(out, e)
	}
	return out
}

// scenarioEntry is what the documentation says of one scenario.
type scenarioEntry struct {
	scenarios.Scenario
	Variants []string // that it must catch
}

func scenarioEntries(t *testing.T) (out []scenarioEntry) {
	t.Helper()
	for _, s := range builtIn(t) {
		e := scenarioEntry{Scenario: s}
		for _, v := range zoo.All {
			if v.Scenario == s.Name {
				e.Variants = append(e.Variants, v.Name)
			}
		}
		out = append(out, e)
	}
	return out
}

func builtIn(t *testing.T) []scenarios.Scenario {
	t.Helper()
	all, err := scenarios.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A list that is typed is out of date with the next scenario or invariant.
func TestTheGeneratedDocumentsSayWhatTheCodeSays(t *testing.T) {
	for name, data := range map[string]any{"invariants.md": invariantEntries(t), "scenarios.md": scenarioEntries(t)} {
		var want bytes.Buffer
		page := template.New(name + ".tmpl").Funcs(template.FuncMap{
			"join": func(words []string) string { return strings.Join(words, ", ") },
			"code": func(words []string) string { return "`" + strings.Join(words, "`, `") + "`" },
			"flat": func(text string) string { return strings.Join(strings.Fields(text), " ") },
			"faults": func(s scenarioEntry) (out []string) {
				for _, f := range s.Faults {
					out = append(out, fmt.Sprintf("%s at %v for %v", f.Kind, f.At, f.For))
				}
				return out
			},
		})
		if err := template.Must(page.ParseFiles("testdata/"+name+".tmpl")).Execute(&want, data); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(repository, "docs", name)
		if *update {
			if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), string(got)); diff != "" {
			t.Errorf("docs/%s is out of date; go test ./cmd/idemstorm -run TestTheGenerated -update writes it (-code +file):\n%s", name, diff)
		}
	}
}
