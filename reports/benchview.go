package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/idemstorm/idemstorm/harness/bench"
)

// benchSetting is one setting of a benchmark as every format shows it.
type benchSetting struct {
	bench.Setting
	Lead  string // the percentile that is compared: the farthest that every strategy has the samples for in every run
	Noise string
	Rows  []benchRow
}

// benchRow is one series in a setting, in text.
type benchRow struct {
	Series string
	Cell   bench.Cell
	Keys   string
	KeysBy string // against the reference
	Floor  string // keys over pgbench's transactions
	Times  map[string]string
	Lead   string            // the winners' leading percentile
	LeadBy string            // against the reference
	Asked  map[string]string // per request
	Trips  string
	Failed string
}

// benchSettings lays a result out. Series that were not measured in a setting are left out.
func benchSettings(r bench.Result) (out []benchSetting) {
	for _, setting := range r.Grid.Settings() {
		lead, name := leadMetric(r, setting)
		view := benchSetting{Setting: setting, Lead: name, Noise: noiseLine(r, setting, lead, name)}
		for _, series := range r.Grid.Series() {
			c := bench.Cell{Series: series, Setting: setting}
			if series == bench.Floor || series == bench.Unprotected {
				c.Duplicates = 1
			}
			if len(r.Find(c)) > 0 {
				view.Rows = append(view.Rows, newBenchRow(r, setting, c, lead))
			}
		}
		if len(view.Rows) > 0 {
			out = append(out, view)
		}
	}
	return out
}

// Title names a setting for people.
func (s benchSetting) Title() string {
	return fmt.Sprintf("%s, %s a key, handler %v, synchronous_commit %s",
		plural(int64(s.Clients), "client", "clients"), plural(int64(s.Duplicates), "request", "requests at one instant"), s.Handler, s.SyncCommit)
}

// leadMetric is the percentile of winners that a setting's strategies are compared by.
func leadMetric(r bench.Result, s bench.Setting) (m bench.Metric, name string) {
	for _, name = range []string{"p99", "p90", "p50"} {
		m, _ = bench.FindMetric("winner-" + name + "-ns")
		lacks := func(series string) bool {
			c := bench.Cell{Series: series, Setting: s}
			f := r.Figure(c, m)
			return len(r.Find(c)) > 0 && (f.Pooled || f.Runs == 0)
		}
		if !slices.ContainsFunc(append(slices.Clone(r.Grid.Strategies), r.Grid.Again()), lacks) {
			break
		}
	}
	return m, name
}

func noiseLine(r bench.Result, s bench.Setting, lead bench.Metric, name string) string {
	return fmt.Sprintf("noise floor, the reference against itself: keys/s %s, winner %s %s",
		noiseText(r.Noise(s, bench.Throughput)), name, noiseText(r.Noise(s, lead)))
}

func noiseText(n bench.Noise) string {
	if !n.Known {
		return dash
	}
	return "±" + digits(100*(n.Reach-1)) + " %"
}

func newBenchRow(r bench.Result, s bench.Setting, c bench.Cell, lead bench.Metric) benchRow {
	row := benchRow{
		Series: c.Series, Cell: c, Keys: figureText(r.Figure(c, bench.Throughput), rateText), Times: map[string]string{}, Asked: map[string]string{},
		KeysBy: dash, LeadBy: dash, Lead: figureText(r.Figure(c, lead), nanosText), Floor: dash, Trips: tripsText(r, c.Series), Failed: failedText(r, c),
	}
	for _, m := range bench.Metrics {
		switch m.Unit {
		case bench.Nanoseconds:
			row.Times[m.Name] = figureText(r.Figure(c, m), nanosText)
		default:
			row.Asked[m.Name] = figureText(r.Figure(c, m), rateText)
		}
	}
	if c.Series != r.Grid.Reference() {
		row.KeysBy = effectText(r.Against(c, s, bench.Throughput))
		row.LeadBy = effectText(r.Against(c, s, lead))
	}
	if c.Series != bench.Floor {
		row.Floor = ratioText(r.OverFloor(c, bench.Throughput))
	}
	return row
}

// Time is a role's figure, such as "winner-p99-ns".
func (b benchRow) Time(name string) string { return b.Times[name] }

// Each is a figure that is no time, such as "statements/req".
func (b benchRow) Each(name string) string { return b.Asked[name] }

func figureText(f bench.Figure, text func(float64) string) string {
	switch {
	case f.Runs == 0:
		return dash
	case f.Pooled:
		return text(f.Value) + "*"
	}
	return text(f.Value)
}

func nanosText(v float64) string { return duration(time.Duration(v)) }

func rateText(v float64) string {
	if v < 1000 {
		return digits(v)
	}
	return count(int64(math.Round(v)))
}

// effectText is the change in per cent with its interval, and the word that may be said of it.
func effectText(e bench.Effect) string {
	if e.Ratio.Runs == 0 {
		return dash
	}
	text := percentChange(e.Ratio.Value) + " %"
	if e.Ratio.Known {
		text += " (" + percentChange(e.Ratio.Low) + "…" + percentChange(e.Ratio.High) + ")"
	}
	switch e.Verdict {
	case bench.WithinNoise:
		return text + " ≈"
	case bench.NoVerdict:
		return text + " ?"
	}
	return text + " " + string(e.Verdict)
}

func percentChange(ratio float64) string {
	v := math.Round(100 * (ratio - 1))
	if v == 0 {
		return "0" // not −0
	}
	return fmt.Sprintf("%+.0f", v)
}

func ratioText(r bench.Interval) string {
	if r.Runs == 0 {
		return dash
	}
	return digits(r.Value)
}

func tripsText(r bench.Result, series string) string {
	i := slices.IndexFunc(r.RoundTrips, func(t bench.RoundTrips) bool { return t.Series == r.Grid.Strategy(series) || t.Series == series })
	if i < 0 {
		return dash
	}
	text := func(v float64) string { return strconv.FormatFloat(roundTo(v, 10), 'f', -1, 64) }
	if t := r.RoundTrips[i]; t.Replay > 0 {
		return text(t.Winner) + " / " + text(t.Replay)
	}
	return text(r.RoundTrips[i].Winner)
}

// failedText counts over all runs.
func failedText(r bench.Result, c bench.Cell) string {
	var n int64
	for _, m := range r.Find(c) {
		n += m.Failed
	}
	return count(n)
}

// benchNotes are what a reader must know of a result.
func benchNotes(r bench.Result) (out []string) {
	if r.Interrupted {
		out = append(out, "It was interrupted: the figures are those of the measurements that had ended.")
	}
	if r.Runs < bench.LeastRuns {
		out = append(out, fmt.Sprintf("With %s there is no 95 %% interval, and no verdict: that takes %d.",
			plural(int64(r.Runs), "run", "runs"), bench.LeastRuns))
	}
	for _, l := range r.LeftOut {
		out = append(out, "Left out: "+l.Series+": "+l.Why+".")
	}
	for _, n := range r.Notes {
		out = append(out, n+".")
	}
	return out
}

// benchLegend explains the tables' signs.
const benchLegend = "Figures are medians over runs; changes are against the reference, in pairs of runs, with their 95 % interval. better and worse: the whole interval lies outside the " +
	"noise floor; ≈: it does not; ?: too few runs to say. –: not measured, or too few samples (p99 takes 368 a run, p99.9 3,688); *: over the requests of all runs together. " +
	"× pgbench: keys a second over pgbench's transactions a second, same statements, same runs: the figure to quote."

// benchHead is a result in one line.
func benchHead(r bench.Result) string {
	return sentence(" · ", fmt.Sprintf("%d of %d measurements", len(r.Measurements), r.Runs*len(r.Grid.Cells())), plural(int64(r.Runs), "run", "runs"),
		"reference "+r.Grid.Reference(), "pools of "+strconv.Itoa(r.Pool), "seed "+strconv.FormatUint(r.Seed, 10), "took "+duration(r.Took))
}
