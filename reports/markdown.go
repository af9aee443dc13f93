package reports

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// mostMarkdown is the size that CI job summaries take, in bytes, with room for the line that says where it was cut.
const mostMarkdown = 64<<10 - 400

//go:embed templates
var templates embed.FS

var summary = template.Must(template.New("summary").Funcs(template.FuncMap{
	"duration": duration, "count": count, "looked": looked, "remark": remark, "q": quantileText, "gatevalue": gateValue, "gateinterval": gateInterval, "most": most,
	"glyph": func(s verdict.Status) string { return glyphs[s] },
	"cell":  tableCell, "prose": escapeMarkdown, "code": codeSpan, "fence": codeBlock,
}).ParseFS(templates, "templates/summary.md.tmpl"))

// markdownSection is what one run's part of the summary is made from.
type markdownSection struct {
	Run      verdict.Run
	Lead     lead
	Findings []verdict.Finding
	Losses   *lossTable
	Examples []markdownExample
	Faults   []faultRow
	Checks   []faultCheck
	Overlap  string
}

type markdownExample struct{ Invariant, Text string }

// WriteMarkdown writes a summary for CI job pages: at most 64 KB. Verdicts come first, then what broke in each run, then
// counterexamples, then tables; what does not fit is left out from the end, and the last line says so.
func WriteMarkdown(w io.Writer, runs ...verdict.Run) error {
	sections := make([]markdownSection, len(runs))
	for i, r := range presentables(runs) {
		sections[i] = newMarkdownSection(r)
	}
	text, err := fillMarkdown(sections)
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// newMarkdownSection shows the smallest counterexample of each invariant; the others are for the larger formats.
func newMarkdownSection(r verdict.Run) markdownSection {
	s := markdownSection{
		Run: r, Lead: newLead(r), Findings: gravest(r.Verdict.Findings), Losses: newLossTable(r.Verdict.Losses, mostLostMarkdown),
		Faults: faultRows(r), Checks: faultChecks(r), Overlap: overlapNote(r),
	}
	for _, f := range r.Verdict.Findings {
		if len(f.Violations) == 0 {
			continue
		}
		p := &printer{width: junitWidth}
		p.example(newExample(r, f, f.Violations[0]))
		s.Examples = append(s.Examples, markdownExample{f.Invariant, p.text.String()})
	}
	return s
}

// fillMarkdown grants room in the order of worth: all leads, then each run's counterexamples, then each run's tables. The
// text stays in the order of the runs.
func fillMarkdown(sections []markdownSection) ([]byte, error) {
	head, err := render("head", sections)
	if err != nil {
		return nil, err
	}
	room := mostMarkdown - len(head)
	if room < 0 {
		return append(cutAtLine(head, mostMarkdown), cutNotice...), nil
	}
	parts := make([][]byte, 3*len(sections))
	cut := false
	for k, name := range []string{"section", "examples", "tables"} {
		for i := range sections {
			part, err := render(name, sections[i])
			if err != nil {
				return nil, err
			}
			if len(part) > room {
				cut = true
				continue
			}
			room -= len(part)
			parts[3*i+k] = part
		}
	}
	out := slices.Concat(append([][]byte{head}, parts...)...)
	if cut {
		out = append(out, cutNotice...)
	}
	return out, nil
}

const cutNotice = "\n---\n**Cut here:** parts that did not fit into 64 KB were left out. " + HTMLFile + " has everything.\n"

// cutAtLine never leaves half a table row, which would spoil the page after it.
func cutAtLine(b []byte, n int) []byte {
	return b[:bytes.LastIndexByte(b[:n], '\n')+1]
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := summary.ExecuteTemplate(&b, name, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`,
	"#", `\#`, "~", `\~`, "@", "@\u200b", "$", `\$`, "://", ":\u200b//", "\n", " ",
)

// escapeMarkdown makes text mean nothing but itself: no markup, no HTML, no mention of a user, no link.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

func tableCell(s string) string { return escapeMarkdown(clip(s, 400)) }

// codeSpan quotes text with more backticks than it holds.
func codeSpan(s string) string {
	fence := strings.Repeat("`", longestRun(s)+1)
	return fence + " " + strings.ReplaceAll(s, "\n", " ") + " " + fence
}

// codeBlock fences text with more backticks than it holds.
func codeBlock(s string) string {
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + "text\n" + strings.TrimRight(s, "\n") + "\n" + fence
}

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	most, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}
