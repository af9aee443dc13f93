package reports

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestATimeAxisKeepsOrderAndStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SliceOfN(rapid.Int64(), 0, 40).Draw(t, "points")
		busy := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) period {
			return period{rapid.Int64().Draw(t, "from"), rapid.Int64().Draw(t, "until")}
		}), 0, 5).Draw(t, "busy")
		a := newTimeAxis(points, busy, 8, 342)
		x, y := rapid.Int64().Draw(t, "x"), rapid.Int64().Draw(t, "y")
		ax, ay := a.at(min(x, y)), a.at(max(x, y))
		if ax > ay || ax < 8 || ay > 342.001 {
			t.Fatalf("%d → %g, %d → %g", min(x, y), ax, max(x, y), ay)
		}
		last := px(-1)
		for _, k := range a.ticks(80) {
			if k.At < last || k.At < 8 || k.At > 342.001 {
				t.Fatalf("tick %v after %v", k, last)
			}
			last = k.At
		}
	})
}

func TestALongSilenceIsDrawnShortAndLabelled(t *testing.T) {
	points := []int64{0, ms(5), ms(5005), ms(5010)}
	a := newTimeAxis(points, []period{{0, ms(5)}, {ms(5005), ms(5010)}}, 0, 1000)
	breaks := a.breaks(50)
	if len(breaks) != 1 || breaks[0].Label != "// 5.00 s" {
		t.Fatalf("%+v", breaks)
	}
	if w := a.at(ms(5)); w < 400 {
		t.Fatalf("the first box has %g of 1000 pixels", w)
	}
}

func TestABoxIsNotShortenedWhileItsNeighboursCanBeSeen(t *testing.T) {
	points := []int64{0, ms(1), ms(10), ms(11)}
	if b := newTimeAxis(points, []period{{0, ms(10)}, {ms(1), ms(11)}}, 0, 1000).breaks(50); len(b) != 0 {
		t.Fatalf("%+v", b)
	}
}

func TestAGapThatSaysNothingIsNotTheMeasureOfTheOthers(t *testing.T) {
	points := []int64{-40, 0, 81_000, ms(173), ms(188)}
	a := newTimeAxis(points, []period{{0, ms(188)}, {81_000, ms(173)}}, 0, 1000)
	if b := a.breaks(50); len(b) != 0 || a.at(ms(94)) < 490 || a.at(ms(94)) > 510 {
		t.Fatalf("%+v, the middle is at %g", b, a.at(ms(94)))
	}
}

func TestALogAxisTakesAnyDurations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values []time.Duration
		for _, v := range rapid.SliceOfN(rapid.Int64(), 0, 20).Draw(t, "values") {
			values = append(values, time.Duration(v))
		}
		a := newLogAxis(values, 200, 10)
		for _, v := range values {
			if y := a.at(v); !(y <= 200.001 && y >= 9.999) {
				t.Fatalf("%d → %g", v, y)
			}
		}
	})
}
