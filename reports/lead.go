package reports

import (
	"cmp"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// lead is what a reader must know within ten seconds: did it pass, what broke, for which key, how to see it oneself.
type lead struct {
	Exit      int
	Word      string // held, violated, too slow, inconclusive
	Glyph     string
	Meaning   string // of the exit code
	Sentence  string
	Broken    []broken
	Reasons   []string // why it is inconclusive, or which gate failed
	Reproduce string
}

// broken is one violated invariant with its smallest counterexample in one line.
type broken struct {
	Invariant, Sentence, Key string
	Count                    int64
}

// newLead lists broken invariants in the order of the verdict and leaves the judging to it.
func newLead(run verdict.Run) lead {
	v := run.Verdict
	exit := v.Exit()
	l := lead{
		Exit: exit, Word: exitWords[exit], Glyph: exitGlyphs[exit], Meaning: exitMeanings[exit],
		Sentence: v.Sentence(), Reproduce: run.Reproduce, Reasons: reasons(v),
	}
	for _, f := range v.Findings {
		if f.Status == verdict.Violated {
			l.Broken = append(l.Broken, newBroken(f))
		}
	}
	return l
}

// newBroken takes the first counterexample, which is the smallest: findings keep them in that order.
func newBroken(f verdict.Finding) broken {
	b := broken{Invariant: f.Invariant, Count: max(f.Count, int64(len(f.Violations))), Sentence: "No counterexample was kept."}
	if len(f.Violations) > 0 {
		b.Sentence, b.Key = f.Violations[0].Sentence, f.Violations[0].Key
	}
	return b
}

// reasons says what keeps a run from having passed, beside violations.
func reasons(v verdict.Verdict) []string {
	out := validity(v)
	for _, f := range v.Findings {
		if f.Status == verdict.Inconclusive {
			out = append(out, sentence(": ", f.Invariant+" could not be judged", f.Why))
		}
	}
	for _, g := range v.Gates {
		switch g.Status {
		case verdict.Violated:
			out = append(out, "gate failed: "+gateSentence(g))
		case verdict.Inconclusive:
			out = append(out, sentence(": ", "gate "+g.Name+" could not be judged", g.Why))
		}
	}
	return out
}

// validity says what threatens the run as a whole.
func validity(v verdict.Verdict) []string {
	var out []string
	if v.Interrupted {
		out = append(out, "the run was interrupted: only what had been recorded by then was judged")
	}
	out = append(out, v.Doubts...)
	judged := func(f verdict.Finding) bool { return f.Status == verdict.Held || f.Status == verdict.Violated }
	if !slices.ContainsFunc(v.Findings, judged) {
		out = append(out, "no invariant could be judged")
	}
	return out
}

// gateSentence is one gate's figures in words.
func gateSentence(g verdict.Gate) string {
	return g.Name + " is " + gateValue(g) + " (95 % interval " + gateInterval(g) + ", " +
		plural(g.Samples, "sample", "samples") + "), the limit is " + duration(g.Limit)
}

// gateValue is a dash where the percentile is not known: no request takes no time at all.
func gateValue(g verdict.Gate) string {
	if g.Value == 0 {
		return dash
	}
	return duration(g.Value)
}

func gateInterval(g verdict.Gate) string {
	if g.Low == 0 && g.High == 0 {
		return dash
	}
	return duration(g.Low) + " to " + duration(g.High)
}

// gravest sorts findings for a table: violated, inconclusive, held, not judged; the order of the verdict within each.
func gravest(fs []verdict.Finding) []verdict.Finding {
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b verdict.Finding) int { return cmp.Compare(gravity(a.Status), gravity(b.Status)) })
	return out
}

// looked says what a finding looked at, and how much.
func looked(f verdict.Finding) string {
	if f.Status == verdict.NotJudged && f.Looked == 0 {
		return dash
	}
	return sentence(" ", count(f.Looked), f.Unit)
}

// remark is a finding's why, or how many counterexamples there are.
func remark(f verdict.Finding) string {
	if f.Status == verdict.Violated {
		n := max(f.Count, int64(len(f.Violations)))
		return sentence("; ", plural(n, "counterexample", "counterexamples"), f.Why)
	}
	return f.Why
}

// shownQuantiles are the columns of every latency table.
var shownQuantiles = []float64{0.5, 0.9, 0.99, 0.999}

// quantile finds one percentile; it is not known where the summary lacks it.
func quantile(s latency.Summary, q float64) latency.Quantile {
	for _, k := range s.Quantiles {
		if max(k.Q-q, q-k.Q) < 1e-9 {
			return k
		}
	}
	return latency.Quantile{Q: q}
}

// quantileText is a percentile's value, or a dash where the samples do not suffice.
func quantileText(s latency.Summary, q float64) string {
	if k := quantile(s, q); k.Known {
		return duration(k.Value)
	}
	return dash
}

// most is the exact maximum, or a dash of an empty series.
func most(s latency.Summary) string {
	if s.Count == 0 {
		return dash
	}
	return duration(s.Max)
}

// started is the wall clock at the run's zero, in UTC, or a dash.
func started(run verdict.Run) string {
	if run.Started.IsZero() {
		return dash
	}
	return run.Started.UTC().Format(time.DateTime + " UTC")
}
