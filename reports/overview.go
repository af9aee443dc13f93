package reports

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/harness/wholefile"
)

// Found is one run directory below a folder, as a slash-separated path from it. Either the run could be read, or Err says why not.
type Found struct {
	Dir    string
	Run    verdict.Run
	Err    error
	Report bool // a report.html stands in it
}

// overviewPage is the model of an index over runs that were made at different times.
type overviewPage struct {
	sheet
	Sentence   string
	Scenarios  []scenarioHistory
	Unreadable []unreadable
}

type unreadable struct{ Dir, Why string }

// scenarioHistory is every run of one scenario and subject, newest first.
type scenarioHistory struct {
	Name, Subject string
	Counts        string
	Items         []indexItem
}

// SaveOverview writes index.html into dir.
func SaveOverview(dir string, found []Found) error {
	return wholefile.Write(filepath.Join(dir, IndexFile), func(w io.Writer) error { return WriteOverview(w, found) })
}

// WriteOverview writes a page over runs that were made at different times: verdicts and p99 of each scenario over time, newest first, and what could not be
// read.
func WriteOverview(w io.Writer, found []Found) error {
	p := overviewPage{}
	runs := 0
	for _, f := range found {
		if f.Err != nil {
			p.Unreadable = append(p.Unreadable, unreadable{safe(f.Dir), safe(f.Err.Error())})
			continue
		}
		runs++
		p.add(newFoundItem(f))
	}
	p.sort()
	p.Sentence = plural(int64(runs), "run", "runs") + " of " + plural(int64(len(p.Scenarios)), "scenario and server", "scenarios and servers")
	if n := len(p.Unreadable); n > 0 {
		p.Sentence += ", and " + count(int64(n)) + " that could not be read"
	}
	p.sheet = newSheet(p.Sentence + " – Idemstorm")
	if err := pages.ExecuteTemplate(w, "overview", p); err != nil {
		return fmt.Errorf("write the index: %w", err)
	}
	return nil
}

// newFoundItem links to the run's report, or to its file where there is no report.
func newFoundItem(f Found) indexItem {
	item := newIndexItem(Entry{Dir: f.Dir, Run: f.Run})
	if !f.Report {
		item.Link = (&url.URL{Path: path.Join(f.Dir, verdict.File)}).EscapedPath()
	}
	return item
}

func (p *overviewPage) add(item indexItem) {
	for i := range p.Scenarios {
		if s := &p.Scenarios[i]; s.Name == item.Run.Scenario && s.Subject == item.Run.Subject {
			s.Items = append(s.Items, item)
			return
		}
	}
	p.Scenarios = append(p.Scenarios, scenarioHistory{Name: item.Run.Scenario, Subject: item.Run.Subject, Items: []indexItem{item}})
}

// sort puts the newest first, among the scenarios too.
func (p *overviewPage) sort() {
	for i := range p.Scenarios {
		s := &p.Scenarios[i]
		slices.SortStableFunc(s.Items, func(a, b indexItem) int { return b.Run.Started.Compare(a.Run.Started) })
		s.Counts = verdictCounts(s.Items)
	}
	slices.SortStableFunc(p.Scenarios, func(a, b scenarioHistory) int {
		return cmp.Or(b.Items[0].Run.Started.Compare(a.Items[0].Run.Started), cmp.Compare(a.Name, b.Name))
	})
}

// verdictCounts says how many ended how: "3 held, 1 violated".
func verdictCounts(items []indexItem) string {
	var parts []string
	for _, code := range []int{verdict.ExitViolated, verdict.ExitInconclusive, verdict.ExitGate, verdict.ExitHeld} {
		n := 0
		for _, item := range items {
			if item.Lead.Exit == code {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, count(int64(n))+" "+exitWords[code])
		}
	}
	return strings.Join(parts, ", ")
}

// overallP99 is the p99 response time of all attempts; not known where the run has too few.
func overallP99(r verdict.Run) latency.Quantile {
	for _, s := range r.Latency {
		if s.Group == latency.All && s.Kind == latency.Response {
			return quantile(s, 0.99)
		}
	}
	return latency.Quantile{Q: 0.99}
}

// trendPlot is the p99 of a scenario's runs, oldest at the left, one place a run.
type trendPlot struct {
	Width, Height, Left, Right, Floor px
	Y                                 []tick
	Points                            string
	Marks                             []trendMark
	First, Last                       string
}

type trendMark struct {
	X, Y, Low, High px
	Exit            int
	Glyph           string
	Known           bool
}

const (
	trendHeight = 120
	mostTrend   = 60 // runs that are drawn: the newest
)

// Wide and Narrow are the two drawings of a scenario's runs.
func (s scenarioHistory) Wide() trendPlot { return s.plot(wideWidth) }

// Narrow is the drawing for small windows.
func (s scenarioHistory) Narrow() trendPlot { return s.plot(narrowWidth) }

// Drawn says that there is something to compare over time.
func (s scenarioHistory) Drawn() bool { return len(s.Items) > 1 }

func (s scenarioHistory) plot(width float64) trendPlot {
	p := trendPlot{Width: px(width), Height: trendHeight + 44, Left: curveLeft, Right: px(width - 16), Floor: trendHeight}
	items := slices.Clone(s.Items[:min(len(s.Items), mostTrend)])
	slices.Reverse(items)
	var values []time.Duration
	for _, item := range items {
		if q := overallP99(item.Run); q.Known {
			values = append(values, q.Low, q.High)
		}
	}
	y := newLogAxis(values, float64(p.Floor)-6, 12)
	if len(values) > 0 {
		p.Y = y.ticks()
	}
	step := float64(p.Right-p.Left-24) / float64(max(1, len(items)-1))
	for i, item := range items {
		q := overallP99(item.Run)
		m := trendMark{X: p.Left + 12 + px(float64(i)*step), Exit: item.Lead.Exit, Glyph: item.Lead.Glyph, Known: q.Known}
		if q.Known {
			m.Y, m.Low, m.High = px(y.at(q.Value)), px(y.at(q.Low)), px(y.at(q.High))
			p.Points += fmt.Sprintf("%s,%s ", m.X, m.Y)
		}
		p.Marks = append(p.Marks, m)
	}
	p.First, p.Last = started(items[0].Run), started(items[len(items)-1].Run)
	if width < wideWidth {
		p.First, _, _ = strings.Cut(p.First, " ")
		p.Last, _, _ = strings.Cut(started(items[len(items)-1].Run), " ")
	}
	return p
}

// Alternative is the drawing in words.
func (s scenarioHistory) Alternative() string {
	return clip("p99 response time of all attempts over "+plural(int64(len(s.Items)), "run", "runs")+" of "+s.Name+", oldest at the left: "+s.Counts+". The table below has every run.", longest)
}

// P99Text is a run's p99 with its interval, or a dash.
func (i indexItem) P99Text() string {
	q := overallP99(i.Run)
	if !q.Known {
		return dash
	}
	return duration(q.Value) + " (" + duration(q.Low) + " to " + duration(q.High) + ")"
}
