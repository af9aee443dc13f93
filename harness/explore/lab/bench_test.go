package lab_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/explore"
	"github.com/idemstorm/idemstorm/harness/explore/lab"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// BenchmarkSchedule compares a schedule of two duplicates with the same two requests sent at once through the same proxies, in turns.
// Judging is left out of both. The bound that is aimed at is 2.5.
func BenchmarkSchedule(b *testing.B) {
	l := open(b, lab.Options{})
	scenario, err := l.Scenario()
	if err != nil {
		b.Fatal(err)
	}
	scenario.Judge = func(context.Context, explore.Case, []explore.Play) (schedule.Outcome, error) {
		return schedule.Outcome{}, nil
	}
	system := l.System(scenario)
	var held, free time.Duration
	schedules := 0
	for b.Loop() {
		result, err := explore.Search(b.Context(), system, explore.Options{Preemptions: schedule.Unbounded, Schedules: 50})
		if err != nil {
			b.Fatal(err)
		}
		held += result.Took
		schedules += result.Schedules
		for range result.Schedules {
			free += uncontrolled(b, scenario)
		}
	}
	perSchedule := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(schedules) }
	b.ReportMetric(perSchedule(held), "ms/schedule")
	b.ReportMetric(perSchedule(free), "ms/uncontrolled")
	b.ReportMetric(float64(held)/float64(free), "ratio")
}

func uncontrolled(b *testing.B, s explore.Scenario) time.Duration {
	c, err := s.Fresh(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	var wg sync.WaitGroup
	for _, actor := range s.Actors {
		wg.Go(func() { actor.Act(b.Context(), c) })
	}
	wg.Wait()
	return time.Since(began)
}
