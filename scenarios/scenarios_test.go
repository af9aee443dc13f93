package scenarios

import (
	"errors"
	"strings"
	"testing"
)

func TestEveryBuiltInScenarioIsWholeAndValid(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are no scenarios")
	}
	seen := map[string]bool{}
	for _, s := range all {
		if seen[s.Name] {
			t.Errorf("two scenarios are called %s", s.Name)
		}
		seen[s.Name] = true
		if s.Catches == "" || len(s.Suites) == 0 {
			t.Errorf("%s does not say what it catches or in which suites it runs", s.Name)
		}
	}
}

func TestTheQuickSuiteIsTheFourScenariosOfTheMainJob(t *testing.T) {
	quick, err := Suite("quick")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range quick {
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, " "), "body-mismatch duplicate-key-race retry-storm store-outage"; got != want {
		t.Errorf("quick is %q, want %q", got, want)
	}
}

const good = `name: mine
summary: One race.
invariants: [at-most-once]
workload:
  fixture: {users: 4, positions: 1, cash: "1000.00"}
  phases:
    - name: race
      shape: race
      loop: closed
      clients: 2
      keys: 3
      duplicates: 2
      mix: {order: 1}
      deadline: 1s
      bound: 5s
faults:
  - {kind: path-refuse, at: 1s, for: 1s, on: store}
`

// A person who mistypes a scenario file is told where, and what was expected.
func TestAFaultyFileIsRefusedWithLineAndReason(t *testing.T) {
	cases := []struct{ name, from, to, want string }{
		{"unknown field", "summary: One race.", "sumary: One race.", `mine.yaml:2:1: unknown field "sumary"`},
		{"wrong type", "keys: 3", "keys: many", "mine.yaml:11:13: "},
		{"bad duration", "deadline: 1s", "deadline: soon", "mine.yaml:14:17: "},
		{"bad fault time", "at: 1s, for: 1s", "at: 1s, for: -1s", "mine.yaml:17:38: faults[0].for: "},
		{"unknown fault", "path-refuse", "path-refuze", `mine.yaml:17:12: faults[0].kind: "path-refuze" is none of`},
		{"unknown shape", "shape: race", "shape: racing", "mine.yaml:8:14: workload.phases[0].shape: "},
		{"impossible value", "clients: 2", "clients: -2", "mine.yaml:10:16: workload.phases[0].clients: "},
		{"unknown invariant", "[at-most-once]", "[at-most-twice]", `mine.yaml:3:14: invariants[0]: "at-most-twice" is none of`},
		{"missing field", "invariants: [at-most-once]\n", "", "mine.yaml:1:1: invariants: "},
		{"unknown replica", "on: store", "on: store, replica: 3", "mine.yaml:17:62: faults[0].replica: 3"},
		{"broken YAML", "phases:", "phases", "mine.yaml:"},
		{"not YAML", good, "\x00", "mine.yaml:"},
	}
	if _, err := Parse("mine.yaml", []byte(good)); err != nil {
		t.Fatalf("the good file is refused: %v", err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("mine.yaml", []byte(strings.Replace(good, c.from, c.to, 1)))
			if err == nil {
				t.Fatal("it is accepted")
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %s\nwant %s…", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the message takes several lines: %q", err)
			}
		})
	}
}

func TestAnUnknownNameListsTheKnownOnes(t *testing.T) {
	_, err := Find("duplicate-race")
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "duplicate-key-race") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("name: [1, {a: *b}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Parse("f.yaml", data); err != nil && !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("an error without its place: %v", err)
		}
	})
}
