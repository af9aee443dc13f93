package reports

import (
	"encoding/xml"
	"strings"
	"testing"

	joshdk "github.com/joshdk/go-junit"
	jstemmer "github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// reading is what a parser made of a JUnit file: the status of each test case, by suite and name.
type reading map[string]verdict.Status

// parsers are of other projects: what two of them agree on, a CI server will read too.
var parsers = map[string]func(text string) (reading, string, error){
	"joshdk/go-junit": func(text string) (reading, string, error) {
		suites, err := joshdk.Ingest([]byte(text))
		out, failures := reading{}, ""
		for _, s := range suites {
			for _, c := range s.Tests {
				out[s.Name+"/"+c.Name] = map[joshdk.Status]verdict.Status{
					joshdk.StatusPassed: verdict.Held, joshdk.StatusFailed: verdict.Violated, joshdk.StatusError: verdict.Inconclusive,
				}[c.Status]
				if c.Status == joshdk.StatusFailed && c.Error != nil {
					failures += c.Error.Error()
				}
			}
		}
		return out, failures, err
	},
	"jstemmer/go-junit-report": func(text string) (reading, string, error) {
		var suites jstemmer.Testsuites
		err := xml.Unmarshal([]byte(text), &suites)
		out, failures := reading{}, ""
		for _, s := range suites.Suites {
			for _, c := range s.Testcases {
				status := verdict.Held
				switch {
				case c.Failure != nil:
					status = verdict.Violated
					failures += c.Failure.Data
				case c.Error != nil:
					status = verdict.Inconclusive
				case c.Skipped != nil:
					status = verdict.NotJudged
				}
				out[s.Name+"/"+c.Name] = status
			}
		}
		return out, failures, err
	},
}

func TestTwoParsersReadEveryInvariantAndGateOfEveryScenario(t *testing.T) {
	runs := []verdict.Run{violatedRun(), cleanRun(), inconclusiveRun(), gateRun(), outageRun()}
	for i := range runs {
		runs[i].Scenario = string(rune('a'+i)) + "-" + runs[i].Scenario
	}
	var text strings.Builder
	if err := WriteJUnit(&text, runs...); err != nil {
		t.Fatal(err)
	}
	for name, parse := range parsers {
		got, failures, err := parse(text.String())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases := 0
		for _, r := range runs {
			cases += 1 + len(r.Verdict.Findings) + len(r.Verdict.Gates)
			for _, f := range r.Verdict.Findings {
				if status, there := got[r.Scenario+"/"+f.Invariant]; !there || status != f.Status {
					t.Errorf("%s reads %s of %s as %v, %v; it is %v", name, f.Invariant, r.Scenario, status, there, f.Status)
				}
			}
			for _, g := range r.Verdict.Gates {
				if status, there := got[r.Scenario+"/gate: "+g.Name]; !there || status != g.Status {
					t.Errorf("%s reads gate %s of %s as %v, %v; it is %v", name, g.Name, r.Scenario, status, there, g.Status)
				}
			}
		}
		if len(got) != cases {
			t.Errorf("%s reads %d cases, and there are %d", name, len(got), cases)
		}
		for _, want := range []string{sampleKey, "expected", "seen", "reproduce: idemstorm run duplicate-key-race --variant select-then-insert"} {
			if !strings.Contains(strings.Join(strings.Fields(failures), " "), want) {
				t.Errorf("%s: the failures' text lacks %q", name, want)
			}
		}
	}
}
