package reports

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// SaveMetrics writes the results of runs in the Prometheus text format, as node_exporter's textfile collector reads them: whole or not at
// all. Every value is a gauge of the last run of a scenario; times are in seconds.
func SaveMetrics(path string, runs ...verdict.Run) error {
	registry := prometheus.NewRegistry()
	gauges := newRunGauges(registry)
	for _, r := range presentables(runs) {
		gauges.set(r)
	}
	if err := prometheus.WriteToTextfile(path, registry); err != nil {
		return fmt.Errorf("write the metrics: %w", err)
	}
	return nil
}

// runGauges are the metrics of runs. A status is one series for each of the four words, of which one is 1: a missing series is not a pass.
type runGauges struct {
	info, exit, started, took             *prometheus.GaugeVec
	operations, attempts, unanswered      *prometheus.GaugeVec
	keys, answers, doubts                 *prometheus.GaugeVec
	invariant, looked, violations         *prometheus.GaugeVec
	gate, gateLimit, gateValue            *prometheus.GaugeVec
	quantile, slowest, samples, recovered *prometheus.GaugeVec
}

func newRunGauges(registry prometheus.Registerer) runGauges {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "idemstorm_" + name, Help: help}, append([]string{"scenario"}, labels...))
		registry.MustRegister(v)
		return v
	}
	return runGauges{
		info:       gauge("run_info", "What was run; always 1.", "tool", "subject", "variant", "seed"),
		exit:       gauge("run_exit_code", "Exit code of the verdict: 0 held, 1 violated, 4 too slow, 5 inconclusive."),
		started:    gauge("run_start_time_seconds", "When the run began, since 1970."),
		took:       gauge("run_duration_seconds", "How long the traffic and the settling took."),
		operations: gauge("run_operations", "Operations of the plan that were begun."),
		attempts:   gauge("run_attempts", "Requests that were sent or tried."),
		unanswered: gauge("run_attempts_unanswered", "Attempts without a whole answer, by why.", "why"),
		keys:       gauge("run_keys", "Distinct keys."),
		answers:    gauge("run_answers", "Answers by the contract's classes.", "answer"),
		doubts:     gauge("run_doubts", "What threatens the run's validity."),
		invariant:  gauge("invariant_status", "1 for the status that the invariant has.", "invariant", "status"),
		looked:     gauge("invariant_looked", "How many things were examined.", "invariant", "unit"),
		violations: gauge("invariant_violations", "Counterexamples found.", "invariant"),
		gate:       gauge("gate_status", "1 for the status that the latency gate has.", "gate", "status"),
		gateLimit:  gauge("gate_limit_seconds", "The gate's limit.", "gate"),
		gateValue:  gauge("gate_value_seconds", "The gate's value; absent without enough samples.", "gate"),
		quantile:   gauge("latency_seconds", "A percentile; absent without enough samples for a 95 % interval.", "series", "kind", "quantile"),
		slowest:    gauge("latency_max_seconds", "The slowest, exactly.", "series", "kind"),
		samples:    gauge("latency_samples", "Samples of the series.", "series", "kind"),
		recovered:  gauge("fault_recovery_seconds", "From a fault's end to the last key's final answer.", "fault", "kind"),
	}
}

func (g runGauges) set(r verdict.Run) {
	s := r.Scenario
	g.info.WithLabelValues(s, r.Tool, r.Subject, r.Variant, strconv.FormatUint(r.Seed, 10)).Set(1)
	g.exit.WithLabelValues(s).Set(float64(r.Verdict.Exit()))
	if !r.Started.IsZero() {
		g.started.WithLabelValues(s).Set(float64(r.Started.UnixMilli()) / 1000)
	}
	g.took.WithLabelValues(s).Set(r.Took.Seconds())
	g.counts(s, r.Counts)
	g.doubts.WithLabelValues(s).Set(float64(len(r.Verdict.Doubts)))
	for _, f := range r.Verdict.Findings {
		status(g.invariant, f.Status, s, f.Invariant)
		g.looked.WithLabelValues(s, f.Invariant, f.Unit).Set(float64(f.Looked))
		g.violations.WithLabelValues(s, f.Invariant).Set(float64(max(f.Count, int64(len(f.Violations)))))
	}
	for _, gate := range r.Verdict.Gates {
		g.limit(s, gate)
	}
	for _, l := range r.Latency {
		g.latency(s, l)
	}
	for _, w := range r.Windows {
		if w.UntilNS != 0 {
			g.recovered.WithLabelValues(s, strconv.Itoa(w.Fault), w.Kind).Set(w.Longest.Seconds())
		}
	}
}

func (g runGauges) counts(s string, c verdict.Counts) {
	g.operations.WithLabelValues(s).Set(float64(c.Operations))
	g.attempts.WithLabelValues(s).Set(float64(c.Attempts))
	g.keys.WithLabelValues(s).Set(float64(c.Keys))
	for why, n := range map[string]int64{"lost": c.Lost, "unsent": c.Unsent, "cut": c.Cut} {
		g.unanswered.WithLabelValues(s, why).Set(float64(n))
	}
	for answer, n := range c.Answers {
		g.answers.WithLabelValues(s, answer).Set(float64(n))
	}
}

func (g runGauges) limit(s string, gate verdict.Gate) {
	status(g.gate, gate.Status, s, gate.Name)
	g.gateLimit.WithLabelValues(s, gate.Name).Set(gate.Limit.Seconds())
	if gate.Status != verdict.NotJudged && gate.Value > 0 {
		g.gateValue.WithLabelValues(s, gate.Name).Set(gate.Value.Seconds())
	}
}

func (g runGauges) latency(s string, l latency.Summary) {
	kind := string(l.Kind)
	g.samples.WithLabelValues(s, l.Group, kind).Set(float64(l.Count))
	g.slowest.WithLabelValues(s, l.Group, kind).Set(l.Max.Seconds())
	for _, q := range l.Quantiles {
		if q.Known {
			g.quantile.WithLabelValues(s, l.Group, kind, strconv.FormatFloat(q.Q, 'g', -1, 64)).Set(q.Value.Seconds())
		}
	}
}

// statuses are all, so that a change from one to another leaves no series of the old one standing.
var statuses = []verdict.Status{verdict.NotJudged, verdict.Held, verdict.Violated, verdict.Inconclusive}

func status(v *prometheus.GaugeVec, is verdict.Status, labels ...string) {
	for _, one := range statuses {
		value := 0.0
		if one == is {
			value = 1
		}
		v.WithLabelValues(append(slices.Clone(labels), one.String())...).Set(value)
	}
}
