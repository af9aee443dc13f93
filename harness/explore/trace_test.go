package explore

import (
	"testing"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// A pool refills itself in the background, and then hands out another connection than it did when a schedule was first played.
func TestAStepIsTheSameWhicheverConnectionItGoesBy(t *testing.T) {
	first := schedule.Step{Actor: 1, Conn: 3, Kind: schedule.Statement, SQL: "begin"}
	again := first
	again.Conn = 1
	if mark(first) != mark(again) {
		t.Errorf("%q and %q", mark(first), mark(again))
	}
	for _, other := range []schedule.Step{{Actor: 0, Kind: schedule.Statement, SQL: "begin"}, {Actor: 1, Kind: schedule.Commit, SQL: "begin"}, {Actor: 1, Kind: schedule.Statement, SQL: "commit"}} {
		if mark(other) == mark(first) {
			t.Errorf("%+v is taken for %+v", other, first)
		}
	}
}
