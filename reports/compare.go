package reports

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// CompareFile is the page that SaveComparison writes.
const CompareFile = "compare.html"

// comparePage is the model of compare.html.
type comparePage struct {
	sheet
	Exit                           int
	Word, Glyph, Meaning, Sentence string
	Parts                          []comparePart
}

// comparePart is the comparison of one pair of runs, as every format shows it.
type comparePart struct {
	verdict.Comparison
	Sides     []compareSide
	Changed   []verdict.InvariantChange
	Unchanged []verdict.InvariantChange
	Told      []latencyRow // the latencies that differ
	Untold    []latencyRow // those that cannot be told apart
	Note      string       // what a difference is
}

type compareSide struct {
	Letter, Name string
	Run          verdict.Run
	Lead         lead
}

// latencyRow is one percentile of both runs with the drawing of its ratio.
type latencyRow struct {
	verdict.LatencyChange
	Name, Ratio, Interval string
	Within                string // what is taken for noise
	Plot                  ratioPlot
}

// SaveComparison writes compare.html into dir.
func SaveComparison(dir string, list []verdict.Comparison) error {
	return wholefile.Write(filepath.Join(dir, CompareFile), func(w io.Writer) error { return WriteComparison(w, list) })
}

// WriteComparison writes the comparisons as one self-contained page.
func WriteComparison(w io.Writer, list []verdict.Comparison) error {
	exit := CompareExit(list)
	p := comparePage{Exit: exit, Word: compareWords[exit], Glyph: exitGlyphs[exit], Meaning: compareMeanings[exit], Sentence: plural(int64(len(list)), "scenario", "scenarios") + " compared"}
	for _, c := range list {
		p.Parts = append(p.Parts, newComparePart(c))
	}
	if len(list) == 1 {
		p.Sentence = p.Parts[0].Sentence()
	}
	p.sheet = newSheet(p.Sentence + " – Idemstorm")
	if err := pages.ExecuteTemplate(w, "compare", p); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// CompareExit is the gravest code, in the order of verdict.Exit; no comparison at all is inconclusive.
func CompareExit(list []verdict.Comparison) int {
	if len(list) == 0 {
		return verdict.ExitInconclusive
	}
	worst := verdict.ExitHeld
	for _, code := range []int{verdict.ExitGate, verdict.ExitInconclusive, verdict.ExitViolated} {
		for _, c := range list {
			if c.Exit() == code {
				worst = code
			}
		}
	}
	return worst
}

var (
	compareWords = map[int]string{
		verdict.ExitHeld: "not worse", verdict.ExitViolated: "worse", verdict.ExitGate: "slower", verdict.ExitInconclusive: "less known",
	}
	compareMeanings = map[int]string{
		verdict.ExitHeld:         "nothing is worse in B, as far as these runs can tell",
		verdict.ExitViolated:     "an invariant is violated in B that was not in A",
		verdict.ExitGate:         "a latency is worse in B, outside the noise",
		verdict.ExitInconclusive: "something that was judged in A could not be judged in B",
	}
)

func newComparePart(c verdict.Comparison) comparePart {
	c = presentableComparison(c)
	p := comparePart{Comparison: c, Sides: []compareSide{{"A", c.A.Name, c.A.Run, newLead(c.A.Run)}, {"B", c.B.Name, c.B.Run, newLead(c.B.Run)}}}
	p.Note = noiseNote(c)
	for _, i := range c.Invariants {
		if i.Trend == verdict.Same {
			p.Unchanged = append(p.Unchanged, i)
		} else {
			p.Changed = append(p.Changed, i)
		}
	}
	for _, l := range c.Latencies {
		if l.Trend == verdict.CannotTell {
			p.Untold = append(p.Untold, newLatencyRow(l))
		} else {
			p.Told = append(p.Told, newLatencyRow(l))
		}
	}
	return p
}

func presentableComparison(c verdict.Comparison) verdict.Comparison {
	c.A.Run, c.B.Run = presentable(c.A.Run), presentable(c.B.Run)
	c.A.Name, c.B.Name = safe(c.A.Name), safe(c.B.Name)
	caveats := make([]string, len(c.Caveats))
	for i, s := range c.Caveats {
		caveats[i] = safe(s)
	}
	c.Caveats, c.Measured = caveats, safe(c.Measured)
	return c
}

func newLatencyRow(l verdict.LatencyChange) latencyRow {
	l.Group = safe(l.Group)
	return latencyRow{
		LatencyChange: l, Name: l.Group + " " + percentile(l.Q), Ratio: times(l.Ratio.Value), Interval: times(l.Ratio.Low) + " to " + times(l.Ratio.High),
		Within: times(1/(1+l.Noise)) + " to " + times(1+l.Noise), Plot: newRatioPlot(l.Ratio, l.Noise),
	}
}

// Before is the percentile in A.
func (l latencyRow) Before() string { return knownQuantile(l.A) }

// After is the percentile in B.
func (l latencyRow) After() string { return knownQuantile(l.B) }

func knownQuantile(q latency.Quantile) string {
	if !q.Known {
		return dash
	}
	return duration(q.Value)
}

// times is a ratio: "1.25×".
func times(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) + "×" }

// ratioPlot draws a ratio's interval against the noise, on a logarithmic scale from a quarter to four times.
type ratioPlot struct {
	Width, Height, Middle px
	NoiseX, NoiseW        px
	Low, High, At         px
}

const (
	ratioWidth  = 160
	ratioHeight = 22
	ratioReach  = 4
)

func newRatioPlot(r latency.Ratio, noise float64) ratioPlot {
	at := func(f float64) px {
		x := math.Log(min(ratioReach, max(1.0/ratioReach, f))) / math.Log(ratioReach)
		return px(ratioWidth/2 + x*(ratioWidth/2-4))
	}
	return ratioPlot{
		Width: ratioWidth, Height: ratioHeight, Middle: at(1), NoiseX: at(1 / (1 + noise)), NoiseW: at(1+noise) - at(1/(1+noise)),
		Low: at(r.Low), High: at(r.High), At: at(r.Value),
	}
}

// trendClass is the look of a trend: that of the status which it resembles.
func trendClass(t verdict.Trend) string {
	switch t {
	case verdict.Worse:
		return "violated"
	case verdict.Better, verdict.MoreKnown:
		return "held"
	case verdict.LessKnown:
		return "inconclusive"
	}
	return "notjudged"
}
