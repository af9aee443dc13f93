package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/latency"
)

// Noise is by how much two runs of the same server are taken to differ without a cause, where nobody has measured it: a ratio within
// [1/(1+Noise), 1+Noise] is no difference.
const Noise = 0.5

// Side is one of two runs that are compared.
type Side struct {
	Name    string       // how it was named
	Run     Run          //
	Latency *latency.Set // nil where the latencies could not be read
}

// Trend says which way something went from A to B.
type Trend int

// The trends. The zero value says nothing.
const (
	CannotTell Trend = iota // within the noise, or too few samples
	Same
	Better
	Worse
	LessKnown // it was judged in A, and in B it was not
	MoreKnown // the reverse, and it holds
)

// String is the word that reports show.
func (t Trend) String() string {
	return [...]string{"cannot tell", "same", "better", "worse", "less known", "more known"}[t]
}

// Comparison is what changed from run A to run B.
type Comparison struct {
	A, B       Side
	Noise      float64  // the least that is taken for noise
	Measured   string   // the name of the other run of A's server that the noise was measured with; "" where it is assumed
	Scarce     int      // percentiles with too few samples to be compared
	Caveats    []string // what else differs between the runs, and what keeps figures from being compared
	Invariants []InvariantChange
	Latencies  []LatencyChange
}

// InvariantChange is one invariant in both runs. A run that does not know it counts as one that did not judge it.
type InvariantChange struct {
	Invariant string
	A, B      Finding
	Trend     Trend
}

// LatencyChange is one percentile of one series in both runs. Ratio is B over A.
type LatencyChange struct {
	latency.Series
	Q     float64
	A, B  latency.Quantile
	Ratio latency.Ratio
	Noise float64 // the comparison's, or what was measured for this percentile where that is more
	Trend Trend
}

// compared are the percentiles that are compared.
var compared = []float64{0.5, 0.99}

// Compare says what changed from a to b. Latencies differ only where the whole interval of their ratio lies outside the noise, which is at least the
// given one and, where same is another run of a's server, at least what these two differ by. It has no clock and no chance of its own: the same runs give the
// same comparison.
func Compare(a, b Side, same *Side, noise float64) Comparison {
	c := Comparison{A: a, B: b, Noise: noise, Caveats: caveats(a, b)}
	var names []string
	for _, f := range slices.Concat(a.Run.Verdict.Findings, b.Run.Verdict.Findings) {
		if !slices.Contains(names, f.Invariant) {
			names = append(names, f.Invariant)
		}
	}
	for _, n := range names {
		before, after := a.Run.finding(n), b.Run.finding(n)
		c.Invariants = append(c.Invariants, InvariantChange{n, before, after, trend(before.Status, after.Status)})
	}
	if same != nil && same.Latency != nil {
		c.Measured = same.Name
	} else {
		same = &Side{}
	}
	if a.Latency != nil && b.Latency != nil {
		c.latencies(same.Latency)
	}
	return c
}

func (r Run) finding(invariant string) Finding {
	for _, f := range r.Verdict.Findings {
		if f.Invariant == invariant {
			return f
		}
	}
	return Finding{Invariant: invariant}
}

// trend of a status: a violation is the worst, and what is not judged is neither better nor worse than what held.
func trend(a, b Status) Trend {
	judged := func(s Status) bool { return s == Held || s == Violated }
	switch {
	case a == b || (!judged(a) && !judged(b)):
		return Same
	case b == Violated:
		return Worse
	case b == Held && a == Violated:
		return Better
	case judged(a):
		return LessKnown
	}
	return MoreKnown
}

// latencies compares the response times that both runs have, of all attempts and of what executed or was replayed: what people wait for.
func (c *Comparison) latencies(same *latency.Set) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range c.A.Latency.Summaries() {
		useful := s.Group == latency.All || strings.HasSuffix(s.Group, " fresh") || strings.HasSuffix(s.Group, " replay")
		if s.Kind != latency.Response || !useful {
			continue
		}
		for _, q := range compared {
			c.change(s.Series, q, same, random)
		}
	}
}

func (c *Comparison) change(series latency.Series, q float64, same *latency.Set, random *rand.Rand) {
	l := LatencyChange{Series: series, Q: q, A: c.A.Latency.Quantile(series, q), B: c.B.Latency.Quantile(series, q), Noise: c.Noise}
	ratio, ok := latency.RatioOf(c.A.Latency, c.B.Latency, series, q, random)
	if !ok {
		c.Scarce++
		return
	}
	l.Ratio = ratio
	if same != nil {
		if r, ok := latency.RatioOf(c.A.Latency, same, series, q, random); ok {
			l.Noise = max(l.Noise, r.Value-1, 1/r.Value-1)
		}
	}
	switch {
	case ratio.Low > 1+l.Noise:
		l.Trend = Worse
	case ratio.High < 1/(1+l.Noise):
		l.Trend = Better
	}
	c.Latencies = append(c.Latencies, l)
}

// caveats name what differs between two runs beside what they are compared for.
func caveats(a, b Side) (list []string) {
	differ := func(what, x, y string) {
		if x != y {
			list = append(list, fmt.Sprintf("%s: %s in A, %s in B", what, or(x), or(y)))
		}
	}
	differ("plan", short(a.Run.PlanDigest), short(b.Run.PlanDigest))
	differ("idemstorm", a.Run.Tool, b.Run.Tool)
	for _, f := range a.Run.Facts {
		for _, g := range b.Run.Facts {
			if f.Name == g.Name && f.Name != "disk" { // a measurement, never twice the same
				differ(f.Name, f.Value, g.Value)
			}
		}
	}
	for _, s := range []struct {
		name string
		Side
	}{{"A", a}, {"B", b}} {
		if s.Latency == nil {
			list = append(list, "the latencies of "+s.name+" could not be read, so none are compared")
		}
		for _, d := range s.Run.Verdict.Doubts {
			list = append(list, s.name+" doubts itself: "+d)
		}
	}
	return list
}

func or(s string) string {
	if s == "" {
		return "nothing known"
	}
	return s
}

func short(digest string) string { return digest[:min(12, len(digest))] }

// Count is how many invariants and how many latencies went that way.
func (c Comparison) Count(t Trend) (invariants, latencies int) {
	for _, i := range c.Invariants {
		if i.Trend == t {
			invariants++
		}
	}
	for _, l := range c.Latencies {
		if l.Trend == t {
			latencies++
		}
	}
	return invariants, latencies
}

// Exit is the exit code of a comparison: an invariant that is violated in B alone is a violation, one that is known no more is inconclusive, a latency
// that is worse outside the noise is a failed gate.
func (c Comparison) Exit() int {
	broken, slower := c.Count(Worse)
	unknown, _ := c.Count(LessKnown)
	switch {
	case broken > 0:
		return ExitViolated
	case unknown > 0 || c.B.Run.Verdict.Partial:
		return ExitInconclusive
	case slower > 0:
		return ExitGate
	}
	return ExitHeld
}

// Sentence is the comparison in one line: what there is none of is not named.
func (c Comparison) Sentence() string {
	word := map[int]string{ExitHeld: "NOT WORSE", ExitViolated: "WORSE", ExitInconclusive: "LESS KNOWN", ExitGate: "SLOWER"}[c.Exit()]
	s := c.B.Run.Scenario + ": B against A: " + word
	sep := ": "
	add := func(n int, what string) {
		if n > 0 {
			s += fmt.Sprintf("%s%d %s", sep, n, what)
			sep = "; "
		}
	}
	broken, slower := c.Count(Worse)
	mended, faster := c.Count(Better)
	unknown, _ := c.Count(LessKnown)
	_, open := c.Count(CannotTell)
	add(broken, "invariant(s) newly broken")
	add(mended, "invariant(s) mended")
	add(unknown, "invariant(s) known no more")
	add(slower, "response time(s) slower")
	add(faster, "response time(s) faster")
	add(open, "response time(s) that cannot be told apart")
	return s
}
