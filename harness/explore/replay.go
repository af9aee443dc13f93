package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// Replay plays a schedule again, step by step. A system that holds other steps than the schedule wants gives ErrDiverged.
func Replay(ctx context.Context, system System, s *schedule.Schedule) (*schedule.Schedule, error) {
	trace, err := play(ctx, system, &replayer{want: s.Steps})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	again := newSchedule(trace)
	again.Name, again.Setup, again.Actors = s.Name, s.Setup, s.Actors
	return again, nil
}

type replayer struct{ want []schedule.Taken }

func (r *replayer) choose(n int, m Moment, _ schedule.Footprint) (int, bool, error) {
	if n >= len(r.want) {
		return 0, false, fmt.Errorf("%w: the schedule has %d steps, and more are held:\n%s", ErrDiverged, len(r.want), m.scene())
	}
	want := mark(r.want[n].Step)
	at := slices.IndexFunc(m.Held, func(s schedule.Step) bool { return mark(s) == want })
	if at < 0 {
		return 0, false, fmt.Errorf("%w: step %d should be\n%s\nand held are\n%s", ErrDiverged, n+1, want, m.scene())
	}
	return at, true, nil
}

func newSchedule(t Trace) *schedule.Schedule {
	return &schedule.Schedule{Schema: schedule.Schema, Preemptions: t.Preemptions(), Steps: t.Steps, Breaks: breaks(t), Outcome: t.Outcome}
}
