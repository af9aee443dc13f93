package reports

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{
	"glyph":       func(s verdict.Status) string { return glyphs[s] },
	"statusclass": func(s verdict.Status) string { return strings.ReplaceAll(s.String(), " ", "") },
	"gatevalue":   gateValue, "gateinterval": gateInterval,
	"duration": duration, "millis": millis, "count": count, "count64": func(n int) string { return count(int64(n)) },
	"crashtext": crashText, "capital": capital, "times": func(n int, one, many string) string { return plural(int64(n), one, many) }, "started": started, "most": most,
	"looked": looked, "remark": remark, "quantiles": quantiles, "clipped": clipped,
	"username": userName, "kindclass": kindClass,
	"plural":     func(n int64) string { return plural(n-1, "more counterexample", "more counterexamples") },
	"plus":       func(a px, b any) (px, error) { return shift(a, b) },
	"minus":      func(a, b px) px { return a - b },
	"dec":        func(n int) int { return n - 1 },
	"long":       func(s string) bool { return len(s) > 48 }, // a cell that must wrap
	"words":      shellWords,
	"dict":       dict,
	"noise":      noiseNote,
	"trendglyph": func(t verdict.Trend) string { return trendGlyphs[t] },
	"trendclass": trendClass,
}).ParseFS(templates, "templates/*.gohtml"))

// stylesheet is the page's only style, and the policy names its hash.
var stylesheet = func() template.CSS {
	b, err := templates.ReadFile("templates/style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return template.CSS(b)
}()

// sheet is what every page of ours has.
type sheet struct {
	Title  string
	Style  template.CSS
	Policy string // content security policy: nothing but this style and data: images
}

// newSheet allows the one style by its hash, so that markup that slipped through could not even be styled.
func newSheet(title string) sheet { return styledSheet(title, stylesheet) }

// styledSheet is a page with another style.
func styledSheet(title string, style template.CSS) sheet {
	hash := sha256.Sum256([]byte(style))
	return sheet{
		Title: title, Style: style,
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'",
	}
}

// reportPage is the model of report.html.
type reportPage struct {
	sheet
	Run      verdict.Run
	Lead     lead
	Violated []findingView
	Findings []findingView
	Curves   []curve
	Timeline *timeline
	Losses   *lossTable
	Faults   []faultRow
	Checks   []faultCheck
	Overlap  string
	Validity []string

	Series, Rare []latency.Summary // of the latency table: what people ask for first, and the rest
	Endpoints    *endpointTable
}

// findingView is a finding with what the page adds to it.
type findingView struct {
	verdict.Finding
	Meaning  string
	Examples []example
	Explore  string // the command that shows statements, where two requests alone can show the fault
}

// WriteHTML writes the report of one run as one self-contained page.
func WriteHTML(w io.Writer, run verdict.Run) error {
	r := presentable(run)
	l := newLead(r)
	p := reportPage{
		sheet: newSheet(strings.ToUpper(l.Word) + ": " + r.Scenario + ", seed " + fmt.Sprint(r.Seed) + " – Idemstorm"),
		Run:   r, Lead: l, Curves: curves(r), Timeline: newTimeline(r), Losses: newLossTable(r.Verdict.Losses, mostLostHTML), Validity: validity(r.Verdict),
		Faults: faultRows(r), Checks: faultChecks(r), Overlap: overlapNote(r),
	}
	p.Series, p.Rare = divided(r)
	p.Endpoints = newEndpointTable(r)
	for _, f := range gravest(r.Verdict.Findings) {
		v := findingView{Finding: f, Meaning: meanings[f.Invariant], Explore: exploreCommand(r, f)}
		for _, x := range f.Violations {
			v.Examples = append(v.Examples, newExample(r, f, x))
		}
		p.Findings = append(p.Findings, v)
		if f.Status == verdict.Violated {
			p.Violated = append(p.Violated, v)
		}
	}
	if err := pages.ExecuteTemplate(w, "report", p); err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

// exploreCommand searches the orders of statements of the variant that executed twice. Nothing is promised: what needs load or an outage has none that shows it.
func exploreCommand(r verdict.Run, f verdict.Finding) string {
	if f.Status != verdict.Violated || f.Invariant != "at-most-once" || r.Variant == "" {
		return ""
	}
	return "idemstorm explore --variant " + r.Variant + " --out runs/explored"
}

// quantiles are the shown percentiles of a summary; those that it lacks are not known.
func quantiles(s latency.Summary) []latency.Quantile {
	out := make([]latency.Quantile, len(shownQuantiles))
	for i, q := range shownQuantiles {
		out[i] = quantile(s, q)
	}
	return out
}

// divided parts the series of a latency table: those of all attempts, of what executed or was replayed, of the generator, and those that a gate speaks of
// come first.
func divided(r verdict.Run) (first, rest []latency.Summary) {
	for _, s := range r.Latency {
		asked := s.Group == latency.All || s.Kind == latency.Lateness || strings.HasSuffix(s.Group, " fresh") || strings.HasSuffix(s.Group, " replay")
		if asked || len(limits(s, r.Verdict.Gates)) > 0 || len(r.Latency) <= fewSeries {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return first, rest
}

// fewSeries are shown together.
const fewSeries = 12

// clipped sums up over all series what the histograms could not hold.
func clipped(r verdict.Run) (n int64) {
	for _, s := range r.Latency {
		n += s.Clipped
	}
	return n
}

// shift is arithmetic for templates, which hand over coordinates and plain numbers alike.
func shift(a px, b any) (px, error) {
	switch b := b.(type) {
	case px:
		return a + b, nil
	case int:
		return a + px(b), nil
	}
	return 0, fmt.Errorf("shift by a %T", b)
}

// dict lets a template hand several values to another.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		name, ok := pair[0].(string)
		if !ok || len(pair) != 2 {
			return nil, errors.New("dict: names and values must alternate")
		}
		out[name] = pair[1]
	}
	return out, nil
}
