package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/check"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/plan"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// The bounds of a total outage.
const (
	slack      = 250 * time.Millisecond // beyond the server's own deadline
	recovery   = 2 * time.Second        // until errors are over
	growth     = 0.10                   // of the level, in a minute of the outage's plateau
	spareBytes = 4 << 20                // what the garbage collector may keep

	spareGoroutines = 50 // noise of one sample a quarter of a second; one in a hundred requests that leaks is 300 in a minute
)

// figures are what was seen of one outage.
type figures struct {
	kind    string
	samples []sample
	doubts  []string
	window  verdict.Window
	verdict verdict.Verdict
	inside  int           // requests sent and ended wholly inside the outage
	refused int           // of them, those answered 503 by the key store's absence
	other   int           // of them, those answered in any other way
	slowest time.Duration // of all inside
	later   []tally       // what ended after the heal, by half seconds
}

// tally divides the requests that ended in a stretch.
type tally struct{ ok, refused, other int }

const stretch = 500 * time.Millisecond

// read takes from the files what the run was; the samples are there already.
func (f *figures) read(ctx context.Context, o *outage, p *plan.Plan, file string) error {
	rows, err := evidence.Read(ctx, o.dsn, evidence.Bundled())
	if err != nil {
		return err
	}
	in := check.Input{
		Scenario: f.kind, Contract: o.contract(), Operations: planned(p), Events: history.Read(file), Evidence: rows,
		Claimed: []string{"fail-closed", "at-most-once", "acked-durable"}, Limits: check.Limits{Slack: slack, CrossKeys: -1},
	}
	run := verdict.Run{Verdict: check.Judge(in)}
	check.Summarise(in, &run)
	if len(run.Windows) != 1 {
		return fmt.Errorf("%d faults in the history, want 1", len(run.Windows))
	}
	f.window, f.verdict = run.Windows[0], run.Verdict
	began, healing := inForce(run.Faults)
	for e, err := range in.Events {
		switch {
		case err != nil:
			return err
		case e.Attempt != nil && e.Attempt.DoneNS > f.window.UntilNS:
			f.countLater(in.Contract, e.Attempt)
		case e.Attempt != nil && e.Attempt.SentNS >= began && e.Attempt.DoneNS <= healing:
			f.count(in.Contract, e.Attempt)
		}
	}
	return nil
}

func planned(p *plan.Plan) iter.Seq2[history.Operation, error] {
	return func(yield func(history.Operation, error) bool) {
		for o := range p.Operations() {
			if !yield(o, nil) {
				return
			}
		}
	}
}

// inForce is the time that lies wholly inside the fault.
func inForce(events []history.Fault) (began, healing int64) {
	for _, e := range events {
		switch e.Phase {
		case history.FaultBegan:
			began = e.AtNS
		case history.FaultHealing:
			healing = e.AtNS
		}
	}
	return began, healing
}

func (f *figures) count(c contract.Contract, a *history.Attempt) {
	f.inside++
	f.slowest = max(f.slowest, time.Duration(a.DoneNS-a.SentNS))
	if a.Outcome != history.Returned {
		return
	}
	if c.Classify(a.Status, a.Marked, a.Body) == contract.AnswerStoreDown {
		f.refused++
	} else {
		f.other++
	}
}

func (f *figures) countLater(c contract.Contract, a *history.Attempt) {
	place := int(time.Duration(a.DoneNS-f.window.UntilNS) / stretch)
	for len(f.later) <= place {
		f.later = append(f.later, tally{})
	}
	switch t := &f.later[place]; {
	case a.Status/100 == 2:
		t.ok++
	case c.Classify(a.Status, a.Marked, a.Body) == contract.AnswerStoreDown:
		t.refused++
	default:
		t.other++
	}
}

func memory(h evidence.Held) int64     { return h.Memory }
func goroutines(h evidence.Held) int64 { return h.Goroutines }

// misses names the bounds that were not met.
func (f figures) misses() (list []string) {
	miss := func(missed bool, what string) {
		if missed {
			list = append(list, what)
		}
	}
	miss(f.inside == 0 || f.refused != f.inside, "an answer that is no 503")
	miss(f.slowest > deadline+slack, "a 503 too late")
	miss(!f.plateau(bare).flat(spareBytes), "memory is not flat")
	miss(!f.plateau(beyond).flat(spareGoroutines), "goroutines are not flat")
	miss(f.window.BackWhy != "" || f.window.Back > recovery, "recovery")
	for _, finding := range f.verdict.Findings {
		miss(finding.Status == verdict.Violated && finding.Claimed, finding.Invariant)
	}
	return list
}

func (f figures) met() bool { return len(f.misses()) == 0 }

// String is the report of one outage.
func (f figures) String() string {
	var b strings.Builder
	length := time.Duration(f.window.UntilNS - f.window.FromNS).Round(10 * time.Millisecond)
	fmt.Fprintf(&b, "%s of the key store for %v; load average %s\n", f.kind, length, load())
	fmt.Fprintf(&b, "  answers     %d of %d requests inside were answered 503 idempotency_store_unavailable, %d otherwise\n", f.refused, f.inside, f.other)
	fmt.Fprintf(&b, "  slowest     %v, the bound is %v\n", f.slowest.Round(time.Millisecond), deadline+slack)
	f.writeSeries(&b)
	fmt.Fprintf(&b, "  recovery    errors over %v after the heal%s, the bound is %v\n", f.window.Back.Round(time.Millisecond), known(f.window.BackWhy), recovery)
	b.WriteString("  afterwards  by half seconds: executed / refused for the store / otherwise:")
	for _, t := range f.later {
		fmt.Fprintf(&b, " %d/%d/%d", t.ok, t.refused, t.other)
	}
	b.WriteString("\n")
	for _, finding := range f.verdict.Findings {
		if finding.Claimed {
			fmt.Fprintf(&b, "  %s: %s, %d %s\n", finding.Invariant, finding.Status, finding.Looked, finding.Unit)
		}
	}
	for _, doubt := range f.doubts {
		fmt.Fprintln(&b, "  doubt:", doubt)
	}
	for _, missed := range f.misses() {
		fmt.Fprintln(&b, "  MISSED:", missed)
	}
	return b.String()
}

func known(why string) string {
	if why == "" {
		return ""
	}
	return " (not known: " + why + ")"
}

// load is the machine's load average, since a busy machine is late by itself.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}
