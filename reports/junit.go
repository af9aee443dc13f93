package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// junitWidth is the line width of a failure's text.
const junitWidth = 120

// The elements of the JUnit format that its readers agree on, in the order that the strict ones ask for.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitTotals
		Suites []junitSuite `xml:"testsuite"`
	}
	junitTotals struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"` // seconds
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitTotals
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Time    string       `xml:"time,attr"`
		Skipped *junitResult `xml:"skipped"`
		Error   *junitResult `xml:"error"`
		Failure *junitResult `xml:"failure"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes one test suite per run, with one test case per invariant, one per gate, and one for the validity of the run
// itself, so that a doubt about the run never reads as passed. Violated is a failure with the counterexamples as its text, inconclusive
// an error, not judged skipped. Times are the run's as a whole, on its validity case.
func WriteJUnit(w io.Writer, runs ...verdict.Run) error {
	all := junitSuites{Name: "idemstorm"}
	var took time.Duration
	for _, r := range presentables(runs) {
		s := newJUnitSuite(r)
		all.add(s.junitTotals)
		all.Suites = append(all.Suites, s)
		took += r.Took
	}
	all.Time = seconds(took)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// newJUnitSuite puts the validity first: where it is in doubt, the cases below it are too.
func newJUnitSuite(r verdict.Run) junitSuite {
	s := junitSuite{Name: r.Scenario, Properties: []junitProperty{
		{"seed", strconv.FormatUint(r.Seed, 10)},
		{"reproduce", r.Reproduce},
		{"subject", r.Subject},
		{"tool", r.Tool},
		{"exit", strconv.Itoa(r.Verdict.Exit())},
	}}
	if l := r.Verdict.Losses; l != nil {
		s.Properties = append(s.Properties, junitProperty{"acknowledged and lost", strconv.Itoa(len(l.Orders))})
	}
	if !r.Started.IsZero() {
		s.Timestamp = r.Started.UTC().Format("2006-01-02T15:04:05")
	}
	s.add(r, "validity of the run", validityResult(r), r.Took)
	for _, f := range r.Verdict.Findings {
		s.add(r, f.Invariant, findingResult(r, f), 0)
	}
	for _, g := range r.Verdict.Gates {
		s.add(r, "gate: "+g.Name, gateResult(g), 0)
	}
	s.Time = seconds(r.Took)
	return s
}

// result is what one test case came to; of a passed one it is the zero value.
type result struct {
	status  verdict.Status
	message string
	text    string
}

// add maps the four statuses to the three results that the format knows beside passed; the zero status is skipped, never passed.
func (s *junitSuite) add(r verdict.Run, name string, res result, took time.Duration) {
	c := junitCase{Name: name, Class: sentence(".", "idemstorm", r.Scenario), Time: seconds(took)}
	detail := &junitResult{Message: res.message, Type: res.status.String(), Text: res.text}
	s.Tests++
	switch res.status {
	case verdict.Violated:
		c.Failure = detail
		s.Failures++
	case verdict.Inconclusive:
		c.Error = detail
		s.Errors++
	case verdict.NotJudged:
		detail.Type = ""
		c.Skipped = detail
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// validityResult is an error, not a failure: a doubtful run says nothing about the server.
func validityResult(r verdict.Run) result {
	why := validity(r.Verdict)
	if len(why) == 0 {
		return result{status: verdict.Held}
	}
	return result{verdict.Inconclusive, why[0], strings.Join(why, "\n")}
}

// findingResult carries every kept counterexample, since a CI page often is all that its reader can open.
func findingResult(r verdict.Run, f verdict.Finding) result {
	res := result{status: f.Status, message: f.Why}
	if f.Status != verdict.Violated {
		return res
	}
	res.message = newBroken(f).Sentence
	p := &printer{width: junitWidth}
	for _, v := range f.Violations {
		p.example(newExample(r, f, v))
		p.blank()
	}
	p.command("reproduce: ", r.Reproduce)
	res.text = "\n" + p.text.String()
	return res
}

func gateResult(g verdict.Gate) result {
	return result{g.Status, sentence("; ", gateSentence(g), g.Why), ""}
}

func (t *junitTotals) add(o junitTotals) {
	t.Tests += o.Tests
	t.Failures += o.Failures
	t.Errors += o.Errors
	t.Skipped += o.Skipped
}

// seconds is the unit of the format.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
