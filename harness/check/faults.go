package check

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// faultTable says for every fault what it struck and what became of that.
func (t *totals) faultTable(v verdict.Verdict) (list []verdict.Window) {
	var ws windows
	for i := range t.faults {
		ws.add(&t.faults[i])
	}
	level := errorLevel(t.marks, firstStrike(ws))
	for i := range ws {
		w := t.windowRow(&ws[i], ws)
		w.Kind, w.On, w.Bit = t.about(w.Fault)
		t.recovered(&w, &ws[i], ws, level)
		w.Twice = counted(v, "at-most-once", w.Fault, func(f verdict.FaultTally) int64 { return f.Count })
		w.Lost = counted(v, "acked-durable", w.Fault, func(f verdict.FaultTally) int64 { return f.Missing })
		w.Stuck = counted(v, "recovers", w.Fault, func(f verdict.FaultTally) int64 { return f.Count })
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b verdict.Window) int { return compare(int64(a.Fault), int64(b.Fault)) })
	return list
}

func firstStrike(ws windows) int64 {
	first := int64(forever)
	for i := range ws {
		first = min(first, ws[i].struck)
	}
	return first
}

// windowRow counts the attempts that may have felt a fault, and the keys that they were for.
func (t *totals) windowRow(w *window, all windows) verdict.Window {
	row := verdict.Window{Fault: w.id, FromNS: w.struck}
	if w.healed != forever {
		row.UntilNS = w.healed
	}
	struck, shared := map[int32]bool{}, map[int32]bool{}
	var took []int64
	for i := range t.marks {
		m := &t.marks[i]
		if !m.in(w) {
			continue
		}
		row.Attempts++
		countAnswer(&row.Answers, m)
		if m.status != 0 {
			took = append(took, m.took)
		}
		if m.key >= 0 {
			struck[m.key] = true
		}
	}
	for i := range t.marks {
		m := &t.marks[i]
		if struck[m.key] && m.inAnother(w, all) {
			shared[m.key] = true
		}
	}
	row.Keys, row.Shared = int64(len(struck)), int64(len(shared))
	row.P50, row.P99, row.Max = latency.Exact(took)
	t.unsettled(&row, w, struck)
	return row
}

func (m *mark) in(w *window) bool { return w.felt(int(m.replica), m.done-m.took, m.done) }

func (m *mark) inAnother(w *window, all windows) bool {
	return slices.ContainsFunc(all, func(o window) bool { return o.id != w.id && m.in(&o) })
}

func countAnswer(n *verdict.WindowAnswers, m *mark) {
	switch {
	case m.status == 0:
		n.None++
	case m.status/100 == 2:
		n.OK++
	case m.status == http.StatusConflict, m.status == http.StatusTooEarly:
		n.Conflict++
	case m.status == http.StatusServiceUnavailable:
		n.Unavailable++
	case m.status >= http.StatusInternalServerError:
		n.Failed++
	default:
		n.Other++
	}
}

// unsettled counts the struck keys that had no final answer when the fault had healed, and finds how long the last took to get one.
func (t *totals) unsettled(row *verdict.Window, w *window, struck map[int32]bool) {
	if w.healed == forever {
		return
	}
	for place := range struck {
		k := t.keys[place]
		if k.first > w.healed || k.final <= w.healed {
			continue
		}
		row.Unsettled++
		if k.final != forever {
			row.Longest = max(row.Longest, time.Duration(k.final-w.healed))
		}
	}
}

// recovered finds how long the errors outlasted a fault, on the replicas that it struck.
func (t *totals) recovered(row *verdict.Window, w *window, all windows, level float64) {
	if w.healed == forever {
		row.BackWhy = "no healing was recorded"
		return
	}
	until := int64(forever)
	for i := range all {
		if all[i].struck > w.healed {
			until = min(until, all[i].struck)
		}
	}
	marks := t.marks
	if w.replica != 0 {
		elsewhere := func(m mark) bool { return int(m.replica) != w.replica }
		marks = slices.DeleteFunc(slices.Clone(marks), elsewhere)
	}
	row.Back, row.BackWhy = errorsBack(marks, w.healed, until, level)
}

// about is how the events of a fault name it, and how often it was felt.
func (t *totals) about(id int) (kind, on string, bit int64) {
	for _, f := range t.faults {
		if f.ID == id {
			kind, on, bit = f.Name, f.On, max(bit, f.Bit)
		}
	}
	return kind, on, bit
}

// counted is what an invariant counted for a fault; nil where it was not judged, so that nobody reads it as none.
func counted(v verdict.Verdict, id string, fault int, of func(verdict.FaultTally) int64) *int64 {
	for _, f := range v.Findings {
		if f.Invariant != id || (f.Status != verdict.Held && f.Status != verdict.Violated) {
			continue
		}
		for _, tally := range f.Faults {
			if tally.Fault == fault {
				n := of(tally)
				return &n
			}
		}
	}
	return nil
}

// recovery is the part of the fault table that older readers of run.json know.
func recovery(table []verdict.Window) (list []verdict.Recovery) {
	for _, w := range table {
		if w.UntilNS == 0 {
			continue
		}
		list = append(list, verdict.Recovery{
			Fault: w.Fault, Name: strings.TrimSpace(w.Kind + " on " + w.On), Unsettled: w.Unsettled, Longest: w.Longest,
		})
	}
	return list
}
