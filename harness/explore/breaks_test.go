package explore

import (
	"testing"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// took is a step of an actor that ended at once with these tags.
func took(actor int, kind schedule.Kind, sql string, tags ...string) schedule.Taken {
	step := schedule.Step{Actor: actor, Conn: 1, Kind: kind, SQL: sql}
	return schedule.Taken{Step: step, Ended: []schedule.Ended{{Step: step, End: "answered", Tags: tags}}}
}

func TestTheMarkedStepIsTheLastThatMadeAChangeVisible(t *testing.T) {
	insert := took(0, schedule.Statement, "insert into t values (1)", "INSERT 0 1")
	begin, commit, rollback := took(1, schedule.Statement, "begin", "BEGIN"), took(1, schedule.Statement, "commit", "COMMIT"), took(1, schedule.Statement, "rollback", "ROLLBACK")
	write, look := took(1, schedule.Statement, "update t set a = 1", "UPDATE 1"), took(1, schedule.Statement, "select 1", "SELECT 1")
	waits := schedule.Taken{Step: write.Step, Blocked: []schedule.Blocked{{Step: write.Step, On: []int{0}}}}
	frees := insert
	frees.Ended = append(frees.Ended[:1:1], write.Ended...)
	for name, c := range map[string]struct {
		steps []schedule.Taken
		want  int
	}{
		"a commit":                          {[]schedule.Taken{insert, begin, write, commit, look}, 4},
		"not a rollback, nor its write":     {[]schedule.Taken{insert, begin, write, rollback}, 1},
		"not a commit that rolls back":      {[]schedule.Taken{insert, begin, write, took(1, schedule.Statement, "commit", "ROLLBACK")}, 1},
		"not the commit of a reader":        {[]schedule.Taken{insert, begin, look, commit}, 1},
		"not a write that found no row":     {[]schedule.Taken{insert, took(1, schedule.Statement, "delete from t", "DELETE 0")}, 1},
		"a Sync, and not what it commits":   {[]schedule.Taken{took(0, schedule.Execute, "insert into t values (1)", "INSERT 0 1"), look, took(0, schedule.Commit, "insert into t values (1)"), look}, 3},
		"not the Sync of what did nothing":  {[]schedule.Taken{insert, took(1, schedule.Execute, "insert into t values (1)", "INSERT 0 0"), took(1, schedule.Commit, "insert into t values (1)")}, 1},
		"a batch":                           {[]schedule.Taken{look, took(0, schedule.Statement, "begin; insert into t values (1); commit", "BEGIN", "INSERT 0 1", "COMMIT"), look}, 2},
		"a WITH that writes":                {[]schedule.Taken{took(0, schedule.Statement, "with d as (delete from t returning a) select a from d", "SELECT 1"), look}, 1},
		"what waited, by its own number":    {[]schedule.Taken{look, waits, frees}, 2},
		"the last, when no change was seen": {[]schedule.Taken{look, look}, 2},
	} {
		trace := Trace{Steps: c.steps, Outcome: schedule.Outcome{Violated: []schedule.Violation{{Invariant: "at-most-once"}}}}
		if got := breaks(trace); got != c.want {
			t.Errorf("%s: step %d is marked, want %d", name, got, c.want)
		}
		if got := breaks(Trace{Steps: c.steps}); got != 0 {
			t.Errorf("%s: without a violation step %d is marked", name, got)
		}
	}
}
