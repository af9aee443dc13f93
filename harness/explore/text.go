package explore

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	textWidth  = 100 // columns of all that is written for the terminal
	numberCols = 4   // for the step's number
	sqlLines   = 5   // of one statement; what is longer ends in …
)

// WriteText draws a schedule as lanes, one an actor, time running down, in 100 columns: each statement where it was released, what came
// of it below, and who waits for whom.
func (s *Schedule) WriteText(w io.Writer) error {
	var b bytes.Buffer
	l := lanes{out: &b, names: s.Actors, width: (textWidth - numberCols) / max(1, len(s.Actors)), ran: map[[2]int]int{}}
	l.heading()
	marked := s.Violating()
	for i, taken := range s.Steps {
		l.step(i+1, taken, i == marked)
	}
	writeOutcome(&b, s.Outcome)
	_, err := w.Write(b.Bytes())
	return err
}

// lanes writes rows of one cell a lane.
type lanes struct {
	out   *bytes.Buffer
	names []string
	width int
	ran   map[[2]int]int // by actor and connection, the step that ran and is not committed
}

func (l *lanes) heading() {
	cells := make([][]string, len(l.names))
	for i, name := range l.names {
		cells[i] = []string{name, strings.Repeat("-", min(len(name), l.width-2))}
	}
	l.rows("", cells, nil)
}

// step writes the statement in its actor's lane, and beside it who has to wait.
func (l *lanes) step(number int, taken Taken, marked bool) {
	cells := make([][]string, len(l.names))
	at := taken.Step.Actor
	cells[at] = append(wrap(l.describe(number, taken.Step), l.width-2, sqlLines), l.params(taken.Step)...)
	if marked {
		cells[at] = append(cells[at], "^ this makes it wrong")
	}
	for _, ended := range taken.Ended {
		cells[ended.Step.Actor] = append(cells[ended.Step.Actor], wrap(ended.text(taken.Step), l.width-2, 3)...)
	}
	for _, blocked := range taken.Blocked {
		cells[blocked.Step.Actor] = append(cells[blocked.Step.Actor], wrap(l.waits(blocked), l.width-2, 3)...)
	}
	for _, answer := range taken.Answers {
		cells[answer.Actor] = append(cells[answer.Actor], answerText(answer))
	}
	l.rows(fmt.Sprintf("%*d", numberCols-1, number), cells, taken.Blocked)
}

func (l *lanes) params(step Step) (out []string) {
	for _, param := range step.Params {
		out = append(out, wrap(param, l.width-2, 1)...)
	}
	return out
}

func (l *lanes) waits(b Blocked) string {
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
func (l *lanes) rows(number string, cells [][]string, blocked []Blocked) {
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
			} else if slices.ContainsFunc(blocked, func(b Blocked) bool { return b.Step.Actor == lane }) {
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

func (l *lanes) describe(number int, step Step) string {
	switch step.Kind {
	case Commit:
		return fmt.Sprintf("commits step %d", l.ran[[2]int{step.Actor, step.Conn}])
	case Execute:
		l.ran[[2]int{step.Actor, step.Conn}] = number
		return "[not committed yet] " + oneLine(step.SQL)
	}
	return oneLine(step.SQL)
}

func oneLine(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// text says what became of a step; a step other than the one released names itself.
func (e Ended) text(released Step) string {
	text := "-> "
	if e.Step.mark() != released.mark() {
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

func answerText(a Answer) string {
	if a.Status == 0 {
		return "= " + a.Class
	}
	return fmt.Sprintf("= %d %s", a.Status, a.Class)
}

// wrap breaks text at spaces into lines of at most width runes; what does not fit into the lines is cut, and shown as cut.
func wrap(text string, width, lines int) (out []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		for len([]rune(word)) > width {
			head := []rune(word)
			out, line = flush(out, line), ""
			out = append(out, string(head[:width]))
			word = string(head[width:])
		}
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			out, line = flush(out, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	out = flush(out, line)
	if len(out) > lines {
		out = out[:lines]
		last := []rune(out[lines-1])
		out[lines-1] = string(last[:min(len(last), width-2)]) + " …"
	}
	return out
}

func flush(out []string, line string) []string {
	if line == "" {
		return out
	}
	return append(out, line)
}

func writeOutcome(b *bytes.Buffer, o Outcome) {
	fmt.Fprintf(b, "\nIn the end: executions %d, record %s, answers %s.\n", o.Executions, o.Record, strings.Join(o.Answers, ", "))
	for _, row := range o.Rows {
		for i, line := range wrap(row.Table+": "+row.Text, textWidth-4, 3) {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", 2+2*min(i, 1)), line)
		}
	}
	for _, v := range o.Violated {
		for i, line := range wrap("VIOLATED "+v.Invariant+": "+v.Sentence, textWidth-2, 6) {
			fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", 2*min(i, 1)), line)
		}
	}
}

// WriteText sums a search up for the terminal, in 100 columns.
func (r Result) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", r.Name)
	for _, line := range wrap(r.Claim()+"; longest "+fmt.Sprint(r.Steps)+" steps; "+r.Took.Round(1e6).String(), textWidth-2, 3) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, c := range r.Outcomes {
		for i, line := range wrap(fmt.Sprintf("%6d × %s", c.Count, c.Outcome.Signature()), textWidth-4, 4) {
			fmt.Fprintf(&b, "  %s%s\n", strings.Repeat(" ", 9*min(i, 1)), line)
		}
	}
	for _, why := range r.Open {
		for i, line := range strings.Split(why, "\n") {
			for _, part := range wrap(line, textWidth-10, 3) {
				fmt.Fprintf(&b, "  %s%s\n", [...]string{"open: ", "      "}[min(i, 1)], part)
			}
		}
	}
	for _, v := range r.Afterwards {
		for _, line := range wrap("VIOLATED "+v.Invariant+" after all schedules: "+v.Sentence, textWidth-2, 4) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	fmt.Fprintf(&b, "%s\n", r.Sentence())
	_, err := w.Write(b.Bytes())
	return err
}

// Sentence is the result in one line.
func (r Result) Sentence() string {
	switch {
	case r.Violating > 0:
		return fmt.Sprintf("VIOLATED: %d of %d schedules break an invariant; the first was schedule %d", r.Violating, r.Schedules, r.First)
	case len(r.Afterwards) > 0:
		return "VIOLATED: the schedules together left something wrong"
	case r.Exit() != 0:
		return "INCONCLUSIVE: nothing broken was seen, and not everything was looked at"
	}
	return fmt.Sprintf("HELD: no schedule of %d breaks an invariant", r.Schedules)
}
