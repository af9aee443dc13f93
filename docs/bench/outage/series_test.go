package main

import (
	"math"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/evidence"
)

// A minute of samples four times a second, of a server whose goroutines go as given, beside ever more connections of its clients.
func minuteOf(goroutines func(second float64) float64) (f figures) {
	f.window.FromNS, f.window.UntilNS = 0, int64(time.Minute)
	for i := range 240 {
		at := time.Duration(i) * sampleEvery
		f.samples = append(f.samples, sample{at, evidence.Held{Goroutines: int64(goroutines(at.Seconds())) + 500 + int64(i), Descriptors: 500 + int64(i)}})
	}
	return f
}

func TestAPlateauIsFlatAndALeakIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		goroutines func(float64) float64
		flat       bool
	}{
		"level":                            {func(float64) float64 { return 1000 }, true},
		"up within the first deadline":     {func(s float64) float64 { return min(1000, 500*s) }, true},
		"up and down":                      {func(s float64) float64 { return 1000 + 200*math.Sin(s) }, true},
		"down":                             {func(s float64) float64 { return 1000 - 10*s }, true},
		"one in a hundred requests leaked": {func(s float64) float64 { return 1000 + 5*s }, false},
		"leaked from the middle on":        {func(s float64) float64 { return 1000 + 10*max(0, s-30) }, false},
	} {
		f := minuteOf(c.goroutines)
		if got := f.plateau(beyond); got.flat(spareGoroutines) != c.flat {
			t.Errorf("%s: %.0f, %+.1f a minute, flat %v", name, got.level, got.minute, got.flat(spareGoroutines))
		}
	}
	if got := (figures{}).plateau(beyond); got.minute != 0 || math.IsNaN(got.level) {
		t.Errorf("of no samples: %+v", got)
	}
}
