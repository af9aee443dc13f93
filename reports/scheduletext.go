package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

const (
	columns    = 100 // of all text about explorations
	numberCols = 4   // for the step's number
	sqlLines   = 5   // of one statement; what is longer ends in …
)

// WriteSchedule draws a schedule as lanes, one an actor, time running down, in 100 columns: each statement where it was released, what came
// of it below, and who waits for whom.
func WriteSchedule(w io.Writer, s *schedule.Schedule) error {
	s = presentableAs(s, spelled)
	var b bytes.Buffer
	l := laneText{out: &b, names: s.Actors, width: (columns - numberCols) / max(1, len(s.Actors)), ran: map[[2]int]int{}}
	l.heading()
	marked := s.Violating()
	for i, taken := range s.Steps {
		l.step(i+1, taken, i == marked)
	}
	writeOutcome(&b, s.Outcome)
	_, err := w.Write(b.Bytes())
	return err
}

// laneText writes rows of one cell a lane.
type laneText struct {
	out   *bytes.Buffer
	names []string
	width int
	ran   map[[2]int]int // by actor and connection, the step that ran and is not committed
}

func (l *laneText) heading() {
	cells := make([][]string, len(l.names))
	for i, name := range l.names {
		cells[i] = []string{name, strings.Repeat("-", min(len(name), l.width-2))}
	}
	l.rows("", cells, nil)
}

// step writes the statement in its actor's lane, and beside it who has to wait.
func (l *laneText) step(number int, taken schedule.Taken, marked bool) {
	cells := make([][]string, len(l.names))
	at := taken.Step.Actor
	cells[at] = append(wrapped(l.describe(number, taken.Step), l.width-2, sqlLines), l.params(taken.Step)...)
	if marked {
		cells[at] = append(cells[at], "^ this makes it wrong")
	}
	for _, ended := range taken.Ended {
		cells[ended.Step.Actor] = append(cells[ended.Step.Actor], wrapped(endText(ended, taken.Step), l.width-2, 3)...)
	}
	for _, blocked := range taken.Blocked {
		cells[blocked.Step.Actor] = append(cells[blocked.Step.Actor], wrapped(l.waits(blocked), l.width-2, 3)...)
	}
	for _, answer := range taken.Answers {
		cells[answer.Actor] = append(cells[answer.Actor], answerText(answer))
	}
	l.rows(fmt.Sprintf("%*d", numberCols-1, number), cells, taken.Blocked)
}

func (l *laneText) params(step schedule.Step) (out []string) {
	for _, param := range step.Params {
		out = append(out, wrapped(param, l.width-2, 1)...)
	}
	return out
}

func (l *laneText) waits(b schedule.Blocked) string {
	names := make([]string, 0, len(b.On))
	for _, actor := range b.On {
		names = append(names, l.names[actor])
	}
	if len(names) == 0 {
		return "~ waits for a lock"
	}
	return "~ waits for " + strings.Join(names, ", ")
}

// rows writes the cells side by side; a lane that waits shows it on every line.
func (l *laneText) rows(number string, cells [][]string, blocked []schedule.Blocked) {
	height := 0
	for _, cell := range cells {
		height = max(height, len(cell))
	}
	for row := range height {
		line := fmt.Sprintf("%-*s", numberCols, number)
		number = ""
		for lane, cell := range cells {
			text := ""
			if row < len(cell) {
				text = cell[row]
			} else if slices.ContainsFunc(blocked, func(b schedule.Blocked) bool { return b.Step.Actor == lane }) {
				text = "~"
			}
			line += pad(text, l.width)
		}
		l.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func pad(text string, width int) string {
	if n := len([]rune(text)); n < width {
		return text + strings.Repeat(" ", width-n)
	}
	return text
}

func (l *laneText) describe(number int, step schedule.Step) string {
	switch step.Kind {
	case schedule.Commit:
		return fmt.Sprintf("commits step %d", l.ran[[2]int{step.Actor, step.Conn}])
	case schedule.Execute:
		l.ran[[2]int{step.Actor, step.Conn}] = number
		return "[not committed yet] " + schedule.OneLine(step.SQL)
	}
	return schedule.OneLine(step.SQL)
}

// text says what became of a step; a step other than the one released names itself.
func endText(e schedule.Ended, released schedule.Step) string {
	text := "-> "
	if !e.Step.Same(released) {
		text = "-> goes on: "
	}
	switch {
	case e.End != "answered":
		text += e.End + " "
	case len(e.Tags) == 0 && e.Code == "":
		text += "ok"
	}
	if e.Code != "" {
		return text + "error " + e.Code
	}
	return text + strings.Join(e.Tags, ", ")
}

func answerText(a schedule.Answer) string {
	if a.Status == 0 {
		return "= " + a.Class
	}
	return fmt.Sprintf("= %d %s", a.Status, a.Class)
}

// wrapped breaks text at spaces; what does not fit into the lines is cut, and shown as cut.
func wrapped(text string, width, lines int) []string {
	out := wrap(text, width)
	if len(out) > lines {
		out = out[:lines]
		last := []rune(out[lines-1])
		out[lines-1] = string(last[:min(len(last), width-2)]) + " …"
	}
	return out
}

func writeOutcome(b *bytes.Buffer, o schedule.Outcome) {
	fmt.Fprintf(b, "\nIn the end: executions %d, record %s, answers %s.\n", o.Executions, o.Record, strings.Join(o.Answers, ", "))
	for _, row := range o.Rows {
		for i, line := range wrapped(row.Table+": "+row.Text, columns-4, 3) {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", 2+2*min(i, 1)), line)
		}
	}
	for _, v := range o.Violated {
		for i, line := range wrapped("VIOLATED "+v.Invariant+": "+v.Sentence, columns-2, 6) {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", 2*min(i, 1)), line)
		}
	}
}

// WriteExploration sums a search up for the terminal, in 100 columns.
func WriteExploration(w io.Writer, r schedule.Result) error {
	r = presentableAs(r, spelled)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", r.Name)
	for _, line := range wrapped(r.Claim()+"; longest "+fmt.Sprint(r.Steps)+" steps; "+r.Took.Round(1e6).String(), columns-2, 3) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, c := range r.Outcomes {
		for i, line := range wrapped(fmt.Sprintf("%6d × %s", c.Count, c.Outcome.Signature()), columns-4, 4) {
			fmt.Fprintf(&b, "  %s%s\n", strings.Repeat(" ", 9*min(i, 1)), line)
		}
	}
	for _, why := range r.Open {
		for i, line := range strings.Split(why, "\n") {
			for _, part := range wrapped(line, columns-10, 3) {
				fmt.Fprintf(&b, "  %s%s\n", [...]string{"open: ", "      "}[min(i, 1)], part)
			}
		}
	}
	writeNotJudged(&b, r.NotJudged)
	for _, v := range r.Afterwards {
		for _, line := range wrapped("VIOLATED "+v.Invariant+" after all schedules: "+v.Sentence, columns-2, 4) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	fmt.Fprintf(&b, "%s\n", r.Sentence())
	_, err := w.Write(b.Bytes())
	return err
}

func writeNotJudged(b *bytes.Buffer, list []string) {
	for _, why := range list {
		for i, line := range wrapped("not judged: "+why, columns-4, 4) {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", 2+2*min(i, 1)), line)
		}
	}
}
