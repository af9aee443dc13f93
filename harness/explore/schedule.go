package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// ScheduleSchema is the version of the schedule file.
const ScheduleSchema = 1

// Schedule is one played schedule, to be read, drawn, and played again. Setup says how the system must be put together for that.
type Schedule struct {
	Schema      int               `json:"schema"`
	Name        string            `json:"name"`
	Setup       map[string]string `json:"setup,omitempty"` // flags of the command that reproduces it
	Actors      []string          `json:"actors"`          // lane by lane
	Preemptions int               `json:"preemptions"`
	Steps       []Taken           `json:"steps"`
	Outcome     Outcome           `json:"outcome"`
}

func newSchedule(t Trace) *Schedule {
	return &Schedule{Schema: ScheduleSchema, Preemptions: t.Preemptions(), Steps: t.Steps, Outcome: t.Outcome}
}

// Violating is the index of the step that a drawing marks: the last one that made something visible to others. It is -1 when nothing
// was violated.
func (s *Schedule) Violating() int {
	if len(s.Outcome.Violated) == 0 {
		return -1
	}
	for i, taken := range slices.Backward(s.Steps) {
		if taken.Step.publishes() {
			return i
		}
	}
	return len(s.Steps) - 1
}

func (s Step) publishes() bool {
	switch understand(s.SQL).verb {
	case ends:
		return true
	case inserts, modifies:
		return s.Kind != Execute
	}
	return s.Kind == Commit
}

// Save writes a schedule as JSON.
func (s *Schedule) Save(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("write schedule %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write schedule: %w", err)
	}
	return nil
}

// LoadSchedule reads what Save wrote.
func LoadSchedule(path string) (*Schedule, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read schedule: %w", err)
	}
	var s Schedule
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("read schedule %s: %w", path, err)
	}
	if s.Schema != ScheduleSchema {
		return nil, fmt.Errorf("read schedule %s: its schema is %d, and this version reads %d", path, s.Schema, ScheduleSchema)
	}
	return &s, nil
}

// Replay plays a schedule again, step by step. A system that holds other steps than the schedule wants gives ErrDiverged.
func Replay(ctx context.Context, system System, s *Schedule) (*Schedule, error) {
	trace, err := play(ctx, system, &replayer{want: s.Steps})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	again := newSchedule(trace)
	again.Name, again.Setup, again.Actors = s.Name, s.Setup, s.Actors
	return again, nil
}

type replayer struct{ want []Taken }

func (r *replayer) choose(n int, m Moment, _ Footprint) (int, bool, error) {
	if n >= len(r.want) {
		return 0, false, fmt.Errorf("%w: the schedule has %d steps, and more are held:\n%s", ErrDiverged, len(r.want), m.scene())
	}
	mark := r.want[n].Step.mark()
	at := slices.IndexFunc(m.Held, func(s Step) bool { return s.mark() == mark })
	if at < 0 {
		return 0, false, fmt.Errorf("%w: step %d should be\n%s\nand held are\n%s", ErrDiverged, n+1, mark, m.scene())
	}
	return at, true, nil
}
