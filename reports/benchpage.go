package reports

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
	"github.com/idemstorm/idemstorm/harness/latency"
)

// benchStyle is the stylesheet of a benchmark's page: that of all pages, and a colour and a dash for each series.
var benchStyle = func() template.CSS {
	b, err := templates.ReadFile("templates/bench.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return stylesheet + template.CSS(b)
}()

// benchPage is the model of bench.html.
type benchPage struct {
	sheet
	Result   bench.Result
	Head     string
	Legend   string
	Notes    []string
	Series   []benchKey
	Speeds   []speedPlot
	Settings []benchSection
}

// benchKey is one series in the legend of the drawings.
type benchKey struct{ Name, Class string }

// benchSection is a setting with its drawings.
type benchSection struct {
	benchSetting
	Curves []roleCurve
}

// roleCurve is the percentile curves of all series in one role.
type roleCurve struct {
	Role         bench.Role
	Wide, Narrow curvePlot
}

// WriteBenchHTML writes a benchmark as one self-contained page.
func WriteBenchHTML(w io.Writer, r bench.Result) error {
	page := benchPage{
		sheet:  styledSheet("Claim strategies, measured – Idemstorm", benchStyle),
		Result: r, Head: benchHead(r), Legend: benchLegend, Notes: benchNotes(r), Speeds: speedPlots(r),
	}
	for _, name := range r.Grid.Series() {
		page.Series = append(page.Series, benchKey{name, seriesClass(r.Grid, name)})
	}
	for _, s := range benchSettings(r) {
		page.Settings = append(page.Settings, benchSection{s, roleCurves(r, s)})
	}
	if err := pages.ExecuteTemplate(w, "bench", page); err != nil {
		return fmt.Errorf("write the benchmark's page: %w", err)
	}
	return nil
}

// seriesClasses is how many series can be told apart.
const seriesClasses = 10

func seriesClass(g bench.Grid, series string) string {
	return fmt.Sprintf("s%d", slices.Index(g.Series(), series)%seriesClasses)
}

func roleCurves(r bench.Result, s benchSetting) (out []roleCurve) {
	for _, role := range bench.Roles {
		var lines []latency.Summary
		var classes []string
		for _, row := range s.Rows {
			i := slices.IndexFunc(r.Pooled, func(p bench.Pooled) bool { return p.Cell == row.Cell && p.Role == role })
			if i >= 0 && len(r.Pooled[i].Summary.Curve) > 1 {
				lines = append(lines, r.Pooled[i].Summary)
				classes = append(classes, seriesClass(r.Grid, row.Series))
			}
		}
		if len(lines) > 0 {
			out = append(out, roleCurve{role, percentilePlot(wideWidth, lines, classes), percentilePlot(narrowWidth, lines, classes)})
		}
	}
	return out
}

// tickRoom is what half of a percentile's label takes: one nearer to the edge would be cut.
const tickRoom = 24

// percentilePlot draws several series over one percentile axis, stretched towards 1.
func percentilePlot(width float64, lines []latency.Summary, classes []string) curvePlot {
	p := curvePlot{Width: px(width), Height: curveHeight + 40, Left: curveLeft, Right: px(width - 12), Top: 10, Bottom: curveHeight}
	var values []time.Duration
	far := 1.0
	for _, s := range lines {
		for _, pt := range s.Curve {
			values = append(values, pt.Value)
			far = max(far, nines(pt.Q))
		}
	}
	y := newLogAxis(values, float64(p.Bottom), float64(p.Top))
	x := func(q float64) float64 { return float64(p.Left) + float64(p.Right-p.Left)*nines(q)/far }
	p.Y = y.ticks()
	for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999} {
		if at := x(q); nines(q) <= far && (at == float64(p.Right) || at < float64(p.Right)-tickRoom) {
			p.X = append(p.X, tick{px(x(q)), percentile(q)})
		}
	}
	for i, s := range lines {
		line := newPlotLine(s, x, y)
		line.Class = classes[i]
		p.Lines = append(p.Lines, line)
	}
	return p
}

// speedPlot is throughput against latency: one line a series, one point a number of clients.
type speedPlot struct {
	Title, Time  string
	Wide, Narrow speedDrawing
}

type speedDrawing struct {
	curvePlot
	Points []speedPoint
}

type speedPoint struct {
	X, Y       px
	Class, Tip string
}

// speedPlots make one drawing for each setting but the clients.
func speedPlots(r bench.Result) (out []speedPlot) {
	seen := map[bench.Setting]bool{}
	for _, s := range r.Grid.Settings() {
		s.Clients = 0
		if seen[s] {
			continue
		}
		seen[s] = true
		title := fmt.Sprintf("%s, handler %v, synchronous_commit %s", plural(int64(s.Duplicates), "request a key", "requests a key"), s.Handler, s.SyncCommit)
		for _, name := range []string{"p99", "p90", "p50"} { // the farthest that every cell has the samples for
			m, _ := bench.FindMetric("winner-" + name + "-ns")
			if found, whole := speedsOf(r, s, m); whole {
				out = append(out, speedPlot{title, name, drawSpeeds(wideWidth, found), drawSpeeds(narrowWidth, found)})
				break
			}
		}
	}
	return out
}

// speed is one cell's place in the drawing.
type speed struct {
	class, tip string
	keys       float64
	slow       time.Duration
}

// speedsOf are the cells of a setting, whatever the clients; whole says that there are some, and that each has the metric.
func speedsOf(r bench.Result, s bench.Setting, m bench.Metric) (out []speed, whole bool) {
	for _, series := range r.Grid.Series() {
		for _, clients := range r.Grid.Clients {
			c := bench.Cell{Series: series, Setting: s}
			if c.Clients = clients; series == bench.Floor || series == bench.Unprotected {
				c.Duplicates = 1
			}
			keys, slow := r.Figure(c, bench.Throughput), r.Figure(c, m)
			switch {
			case keys.Runs == 0:
				continue
			case slow.Runs == 0:
				return nil, false
			}
			tip := fmt.Sprintf("%s, %d clients: %s keys/s, %s %s", series, clients, rateText(keys.Value), m.Name, nanosText(slow.Value))
			out = append(out, speed{seriesClass(r.Grid, series), tip, keys.Value, time.Duration(slow.Value)})
		}
	}
	return out, len(out) > 0
}

func drawSpeeds(width float64, all []speed) (d speedDrawing) {
	d.curvePlot = curvePlot{Width: px(width), Height: curveHeight + 40, Left: curveLeft, Right: px(width - 12), Top: 10, Bottom: curveHeight}
	var most float64
	var values []time.Duration
	for _, s := range all {
		most, values = max(most, s.keys), append(values, s.slow)
	}
	y := newLogAxis(values, float64(d.Bottom), float64(d.Top))
	step := roundStep(most, int(width/160))
	top := most * 1.03
	x := func(keys float64) px { return d.Left + px(float64(d.Right-d.Left)*keys/top) }
	d.Y = y.ticks()
	for v := 0.0; v <= top; v += step {
		d.X = append(d.X, tick{x(v), rateTick(v)})
	}
	lines := map[string]*strings.Builder{}
	for _, s := range all {
		at := speedPoint{x(s.keys), px(y.at(s.slow)), s.class, s.tip}
		d.Points = append(d.Points, at)
		if lines[s.class] == nil {
			lines[s.class] = &strings.Builder{}
		}
		fmt.Fprintf(lines[s.class], "%v,%v ", at.X, at.Y)
	}
	for class, points := range lines {
		d.Lines = append(d.Lines, plotLine{Class: class, Points: strings.TrimSpace(points.String())})
	}
	slices.SortFunc(d.Lines, func(a, b plotLine) int { return strings.Compare(a.Class, b.Class) })
	return d
}

func rateTick(v float64) string { return count(int64(math.Round(v))) }

// roundStep is 1, 2 or 5 times a power of ten, so that about n of them reach most.
func roundStep(most float64, n int) float64 {
	base := math.Pow(10, math.Floor(math.Log10(max(most, 1)/float64(max(n, 1)))))
	for _, m := range []float64{1, 2, 5} {
		if base*m*float64(n) >= most {
			return max(base*m, 1)
		}
	}
	return max(base*10, 1)
}
