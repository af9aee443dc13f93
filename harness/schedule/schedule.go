// Package schedule is what an exploration leaves behind: schedules, outcomes, and how far it went, as plain data.
//
// It stands between the explorer, which makes it, and the reports, which draw it without a database or a proxy in sight.
// Nothing here decides anything; what is stored is what was seen.
package schedule

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// Schema is the version of the schedule file.
const Schema = 1

// Schedule is one played schedule, to be read, drawn, and played again. Setup says how the system must be put together for that.
type Schedule struct {
	Schema      int               `json:"schema"`
	Name        string            `json:"name"`
	Setup       map[string]string `json:"setup,omitempty"` // flags of the command that reproduces it
	Actors      []string          `json:"actors"`          // lane by lane
	Preemptions int               `json:"preemptions"`
	Steps       []Taken           `json:"steps"`
	Breaks      int               `json:"breaks,omitempty"` // number of the step that a drawing marks as the one that made it wrong, from 1
	Outcome     Outcome           `json:"outcome"`
}

// Taken is one released step of a schedule, with what it brought about.
type Taken struct {
	Step    Step      `json:"step"`
	Switch  bool      `json:"switch,omitempty"` // a preemption: the actor of the step before could have gone on
	Choices int       `json:"choices"`          // how many steps were held
	Ended   []Ended   `json:"ended,omitempty"`
	Blocked []Blocked `json:"blocked,omitempty"` // who waits afterwards
	Answers []Answer  `json:"answers,omitempty"`
}

// Violating is the index of the step that made the outcome wrong, or -1.
func (s *Schedule) Violating() int { return s.Breaks - 1 }

// Save writes a schedule as JSON, whole or not at all.
func (s *Schedule) Save(path string) error { return wholefile.WriteJSON(path, s, "  ") }

// Load reads what Save wrote.
func Load(path string) (*Schedule, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read schedule: %w", err)
	}
	if err := wholefile.Refuse(path, data, Schema); err != nil {
		return nil, err
	}
	var s Schedule
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("read schedule %s: %w", path, err)
	}
	if s.Schema != Schema {
		return nil, fmt.Errorf("read schedule %s: its schema is %d, and this version reads %d", path, s.Schema, Schema)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("read schedule %s: %w", path, err)
	}
	return &s, nil
}

// check refuses steps of actors that there are not, as a file that was edited by hand may have them.
func (s *Schedule) check() error {
	for i, taken := range s.Steps {
		actors := []int{taken.Step.Actor}
		for _, e := range taken.Ended {
			actors = append(actors, e.Step.Actor)
		}
		for _, b := range taken.Blocked {
			actors = append(append(actors, b.Step.Actor), b.On...)
		}
		for _, a := range taken.Answers {
			actors = append(actors, a.Actor)
		}
		for _, actor := range actors {
			if actor < 0 || actor >= len(s.Actors) {
				return fmt.Errorf("step %d is of actor %d, and there are %d", i+1, actor, len(s.Actors))
			}
		}
	}
	return nil
}
