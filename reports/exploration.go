package reports

import (
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/idemstorm/idemstorm/harness/schedule"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// ExplorationFile is the whole result of an exploration, which its report can be made from again.
const ExplorationFile = "result.json"

// explorationPage is the model of the report on an exploration of interleavings.
type explorationPage struct {
	sheet
	Lead   lead
	Result schedule.Result
	Tale   *tale
	Open   []string
}

// WriteExplorationHTML writes the report of an exploration as one self-contained page.
func WriteExplorationHTML(w io.Writer, result schedule.Result) error {
	r := presentableAs(result, spelled)
	p := explorationPage{Lead: explorationLead(r), Result: r, Open: openOrders(r)}
	p.sheet = newSheet(strings.ToUpper(p.Lead.Word) + ": " + r.Name + " – Idemstorm")
	if r.Schedule != nil {
		p.Tale = newTale(r.Schedule)
	}
	if err := pages.ExecuteTemplate(w, "exploration", p); err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

// SaveExplorationHTML writes the page into a folder that exists.
func SaveExplorationHTML(dir string, r schedule.Result) error {
	return wholefile.Write(filepath.Join(dir, HTMLFile), func(w io.Writer) error { return WriteExplorationHTML(w, r) })
}

// orderMeanings are the exit codes of an exploration of interleavings.
var orderMeanings = map[int]string{
	verdict.ExitHeld:         "no order of the statements breaks an invariant",
	verdict.ExitViolated:     "an order of the statements breaks an invariant",
	verdict.ExitInconclusive: "nothing broken was seen, and something kept it from being every order",
}

func explorationLead(r schedule.Result) lead {
	exit := r.Exit()
	l := lead{
		Exit: exit, Word: exitWords[exit], Glyph: exitGlyphs[exit], Meaning: orderMeanings[exit],
		Sentence: withoutWord(r.Sentence()), Reproduce: r.Reproduce,
	}
	violated := r.Afterwards
	if r.Schedule != nil {
		violated = append(r.Schedule.Outcome.Violated, violated...)
	}
	for _, v := range violated {
		l.Broken = append(l.Broken, broken{Invariant: v.Invariant, Sentence: v.Sentence})
	}
	if exit == verdict.ExitInconclusive {
		l.Reasons = r.Open
	}
	return l
}

// withoutWord leaves out what the page says with a glyph before it.
func withoutWord(sentence string) string {
	if _, rest, ok := strings.Cut(sentence, ": "); ok {
		return capital(rest)
	}
	return sentence
}

// capital begins a text with a capital letter, if it begins with a letter of ASCII.
func capital(s string) string {
	if s == "" || s[0] >= utf8.RuneSelf {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// openOrders is what keeps the result from being a claim about every order.
func openOrders(r schedule.Result) []string {
	out := r.Open
	if !r.Complete && r.Violating > 0 {
		out = append(out[:len(out):len(out)], "the search stopped at the first violation; with --all it goes on, and counts every outcome")
	}
	if r.Preemptions != schedule.Unbounded {
		out = append(out[:len(out):len(out)], fmt.Sprintf("orders with more than %d preemptions were not played; --preemptions -1 plays all", r.Preemptions))
	}
	return out
}

// presentableAs is a deep copy whose strings are safe to show.
func presentableAs[T any](v T, spell func(string) string) T {
	return shown(reflect.ValueOf(v), spell).Interface().(T)
}

// spelled makes every line of a text visible by itself, since SQL and notes have several.
func spelled(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", " "), "\n")
	for i, line := range lines {
		lines[i] = visible(line)
	}
	return clip(strings.Join(lines, "\n"), longest)
}
