package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// crashPage is the model of the report on crash points.
type crashPage struct {
	sheet
	Lead     lead
	Result   schedule.CrashResult
	Violated []schedule.CrashPoint
	Faults   []crashFault
	Steps    []crashStep
}

// crashFault is one row of the overview, a cell for each step; a nil cell was not struck.
type crashFault struct {
	Name, Story string
	Cells       []*schedule.CrashPoint
}

// crashStep is one step with all that struck it.
type crashStep struct {
	Number    int
	Head      string // for the head of a column
	Text      string
	Full      string
	Points    []schedule.CrashPoint
	Violating int
}

// WriteCrashHTML writes the report on crash points as one self-contained page.
func WriteCrashHTML(w io.Writer, result schedule.CrashResult) error {
	r := presentableAs(result, spelled)
	p := crashPage{Lead: crashLead(r), Result: r, Faults: crashFaults(r), Steps: crashSteps(r)}
	for _, point := range r.Points {
		if len(point.Outcome.Violated) > 0 {
			p.Violated = append(p.Violated, point)
		}
	}
	p.sheet = newSheet(strings.ToUpper(p.Lead.Word) + ": " + r.Name + " – Idemstorm")
	if err := pages.ExecuteTemplate(w, "crashes", p); err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

// SaveCrashHTML writes the page into a folder that exists.
func SaveCrashHTML(dir string, r schedule.CrashResult) error {
	return wholefile.Write(filepath.Join(dir, HTMLFile), func(w io.Writer) error { return WriteCrashHTML(w, r) })
}

// crashMeanings are the exit codes of an exploration of crash points.
var crashMeanings = map[int]string{
	verdict.ExitHeld:         "no failure at any statement breaks an invariant",
	verdict.ExitViolated:     "a failure at a statement breaks an invariant",
	verdict.ExitInconclusive: "nothing broken was seen, and not every crash point was struck",
}

// mostBroken bounds the violations that the head of the page lists; the table below it has all.
const mostBroken = 5

func crashLead(r schedule.CrashResult) lead {
	exit := r.Exit()
	l := lead{
		Exit: exit, Word: exitWords[exit], Glyph: exitGlyphs[exit], Meaning: crashMeanings[exit],
		Sentence: withoutWord(r.Sentence()), Reproduce: r.Command,
	}
	for _, point := range r.Points {
		for _, v := range point.Outcome.Violated {
			if len(l.Broken) < mostBroken {
				where := fmt.Sprintf("%s at step %d (%s): ", point.Fault, point.Step, cut(crashText(point.Kind, point.SQL), 60))
				l.Broken = append(l.Broken, broken{Invariant: v.Invariant, Sentence: where + v.Sentence})
			}
		}
	}
	if exit == verdict.ExitInconclusive {
		l.Reasons = r.Open
	}
	return l
}

func crashText(kind schedule.Kind, sql string) string {
	text := strings.Join(shortSQL(sql), "; ")
	if kind == schedule.Commit {
		return sentence(": ", "commits", text)
	}
	return text
}

func crashFaults(r schedule.CrashResult) (out []crashFault) {
	for i, point := range r.Points {
		at := slices.IndexFunc(out, func(f crashFault) bool { return f.Name == point.Fault })
		if at < 0 {
			at = len(out)
			out = append(out, crashFault{Name: point.Fault, Story: point.Story, Cells: make([]*schedule.CrashPoint, len(r.Steps))})
		}
		if n := point.Step - 1; n >= 0 && n < len(r.Steps) {
			out[at].Cells[n] = &r.Points[i]
		}
	}
	return out
}

func crashSteps(r schedule.CrashResult) (out []crashStep) {
	for i, step := range r.Steps {
		s := crashStep{Number: i + 1, Head: crashHead(step), Text: crashText(step.Kind, step.SQL), Full: schedule.OneLine(step.SQL)}
		for _, point := range r.Points {
			if point.Step == s.Number {
				s.Points = append(s.Points, point)
				s.Violating += min(1, len(point.Outcome.Violated))
			}
		}
		out = append(out, s)
	}
	return out
}

func crashHead(step schedule.Step) string {
	short := shortSQL(step.SQL)
	switch {
	case step.Kind == schedule.Commit:
		return "its commit"
	case len(short) == 0:
		return ""
	}
	verb, _, _ := strings.Cut(headOf(short[0]), " ")
	if len(short) > 1 {
		return verb + "; …"
	}
	return verb
}
