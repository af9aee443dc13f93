package reports

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// sampleComparison has a trend of every kind.
func sampleComparison() verdict.Comparison {
	a, b := cleanRun(), violatedRun()
	a.Verdict.Findings[6].Status, b.Verdict.Findings[3].Status = verdict.Violated, verdict.Inconclusive
	b.Verdict.Findings[6].Status, b.Verdict.Findings[7].Status = verdict.Held, verdict.Held
	b.Verdict.Doubts = []string{"the generator was late"}
	return verdict.Compare(
		verdict.Side{Name: "runs/monday", Run: a, Latency: scattered(1, 10, 10, 10)},
		verdict.Side{Name: "runs/today", Run: b, Latency: scattered(2, 11, 40, 2)}, nil, verdict.Noise)
}

// scattered are response times around three medians in milliseconds, the same for the same seed.
func scattered(seed uint64, medians ...float64) *latency.Set {
	random := rand.New(rand.NewPCG(seed, 0))
	set := &latency.Set{}
	r := set.Recorder()
	for i, group := range []string{latency.All, "order fresh", "order replay"} {
		for range 500 {
			r.Record(latency.Series{Group: group, Kind: latency.Response}, dms(medians[i]*(0.5+random.ExpFloat64()*0.7)))
		}
	}
	r.Flush()
	return set
}

// sampleFound are runs of some days, one without a report and one that cannot be read.
func sampleFound() []Found {
	var out []Found
	for i, run := range []verdict.Run{cleanRun(), violatedRun(), cleanRun(), gateRun(), cleanRun()} {
		run.Latency = append(run.Latency, sampleSeries(latency.All, latency.Response, 6400, 3+float64(i*i%4)))
		run.Started = time.Date(2026, 3, 10+i, 8, 0, 0, 0, time.UTC)
		out = append(out, Found{Dir: run.Started.Format(time.DateOnly) + "/race", Run: run, Report: i != 2})
	}
	return append(out, Found{Dir: "broken <b>", Err: errors.New("read run.json: not a whole run.json")})
}

func TestComparisonAndOverviewAreShownAsBefore(t *testing.T) {
	list := []verdict.Comparison{sampleComparison()}
	var html, text, overview bytes.Buffer
	if err := errors.Join(WriteComparison(&html, list), WriteComparisonText(&text, Terminal{}, list), WriteOverview(&overview, sampleFound())); err != nil {
		t.Fatal(err)
	}
	compare(t, "comparison.html", html.String())
	compare(t, "comparison.txt", text.String())
	compare(t, "overview.html", overview.String())
}

func TestAComparisonFitsItsTerminal(t *testing.T) {
	for _, width := range []int{60, 100} {
		var b bytes.Buffer
		if err := WriteComparisonText(&b, Terminal{Width: width}, []verdict.Comparison{sampleComparison()}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	}
}

func TestAnOverviewShowsTheNewestRunFirstAndWhatCouldNotBeRead(t *testing.T) {
	var b bytes.Buffer
	if err := WriteOverview(&b, sampleFound()); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	newer, older := strings.Index(text, "./2026-03-14/race/report.html"), strings.Index(text, "./2026-03-12/race/run.json")
	if newer < 0 || older < 0 || newer > older {
		t.Errorf("the newest at %d, an older one without a report at %d", newer, older)
	}
	if !strings.Contains(text, "<code>broken &lt;b&gt;</code> read run.json") {
		t.Error("the run that could not be read is not listed")
	}
}

func TestTheOtherPagesOpenCleanlyAndHinderNobody(t *testing.T) {
	axe, dir := axeSource(t), t.TempDir()
	if err := errors.Join(SaveComparison(dir, []verdict.Comparison{sampleComparison()}), SaveOverview(dir, sampleFound())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(SaveExplorationHTML(dir, racedResult()), SaveIndex(filepath.Join(dir, "suite"), []Entry{{"1", violatedRun()}, {"2", gateRun()}})); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	for name, w := range map[string]window{CompareFile: windows[0], IndexFile: windows[1], HTMLFile: windows[2], "suite/" + IndexFile: windows[3]} {
		page := filepath.Join(dir, name)
		for _, look := range windows[:2] {
			if l := ask[layout](t, b, page, look, measure); l.Overflow > 0 || !l.Styled || l.Nameless > 0 {
				t.Errorf("%s in %s: %+v", name, look.name, l)
			}
			b.keep(t, strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-")+"-"+look.name)
		}
		unhindered(t, b, axe, page, w)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		t.Errorf("the browser complained: %q", b.complaints)
	}
}
