package reports

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

func drawn() *schedule.Schedule {
	look := schedule.Step{Actor: 0, Conn: 1, Kind: schedule.Statement, SQL: "SELECT 1 FROM keys WHERE key = $1"}
	run := schedule.Step{Actor: 1, Conn: 1, Kind: schedule.Execute, SQL: "INSERT INTO keys (key) VALUES ($1)", Params: []string{"$1 = 'k'"}}
	insert := schedule.Step{Actor: 0, Conn: 1, Kind: schedule.Execute, SQL: run.SQL}
	done := schedule.Step{Actor: 1, Conn: 1, Kind: schedule.Commit, SQL: run.SQL}
	return &schedule.Schedule{
		Actors: []string{"request 1", "request 2"},
		Steps: []schedule.Taken{
			{Step: look, Ended: []schedule.Ended{{Step: look, End: "answered", Tags: []string{"SELECT 0"}}}},
			{Step: run, Switch: true, Ended: []schedule.Ended{{Step: run, End: "answered", Tags: []string{"INSERT 0 1"}}}},
			{Step: insert, Switch: true, Blocked: []schedule.Blocked{{Step: insert, On: []int{1}}}},
			{
				Step: done, Ended: []schedule.Ended{{Step: done, End: "answered"}, {Step: insert, End: "answered", Code: "23505"}},
				Answers: []schedule.Answer{{Actor: 1, Status: 201, Class: "fresh"}, {Actor: 0, Class: "lost"}},
			},
		},
		Breaks:  4,
		Outcome: schedule.Outcome{Executions: 2, Answers: []string{"fresh", "lost"}, Record: "none", Violated: []schedule.Violation{{Invariant: "at-most-once", Sentence: "It ran twice."}}},
	}
}

const drawing = `    request 1                                       request 2
    ---------                                       ---------
  1 SELECT 1 FROM keys WHERE key = $1
    -> SELECT 0
  2                                                 [not committed yet] INSERT INTO keys (key)
                                                    VALUES ($1)
                                                    $1 = 'k'
                                                    -> INSERT 0 1
  3 [not committed yet] INSERT INTO keys (key)
    VALUES ($1)
    ~ waits for request 2
  4 -> goes on: error 23505                         commits step 2
    = lost                                          ^ this makes it wrong
                                                    -> ok
                                                    = 201 fresh

In the end: executions 2, record none, answers fresh, lost.
VIOLATED at-most-once: It ran twice.
`

func TestAScheduleIsDrawnAsLanes(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSchedule(&b, drawn()); err != nil {
		t.Fatal(err)
	}
	if b.String() != drawing {
		t.Errorf("got\n%s\nwant\n%s", b.String(), drawing)
	}
}

func TestNoDrawingIsWiderThanTheTerminal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawn()
		words := rapid.StringMatching(`[a-z$()é,= ]{0,400}`)
		for i := range s.Steps {
			s.Steps[i].Step.SQL = words.Draw(rt, "sql")
		}
		s.Actors = append(s.Actors, make([]string, rapid.IntRange(0, 2).Draw(rt, "more"))...)
		s.Outcome.Violated[0].Sentence = words.Draw(rt, "sentence")
		var b bytes.Buffer
		if err := WriteSchedule(&b, s); err != nil {
			rt.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
				rt.Fatalf("%d columns: %q", n, line)
			}
		}
	})
}
