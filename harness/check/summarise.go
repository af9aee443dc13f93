package check

import (
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// slots is how many stretches the time axis has at most.
const slots = 120

// Summarise reads the history once more and fills what a report shows beside run's verdict: counts, the time axis, the operations
// behind the counterexamples, faults and recovery. Damage ends it quietly: Judge has reported it.
func Summarise(in Input, run *verdict.Run) {
	t := totals{
		contract: in.Contract, keyOf: map[int64]int{}, cases: wantedCases(run.Verdict),
		counts: verdict.Counts{Answers: map[string]int64{}},
	}
	t.readOperations(in)
	for e, err := range in.Events {
		switch {
		case err != nil:
		case e.Attempt != nil:
			t.addAttempt(e.Attempt)
		case e.Fault != nil:
			t.faults = append(t.faults, *e.Fault)
		}
	}
	run.Counts, run.Timeline, run.Cases = t.counts, t.timeline(), t.caseList()
	run.Endpoints = t.endpoints.table(t.marks)
	run.Faults, run.Windows = t.faults, t.faultTable(run.Verdict)
	run.Recovery = recovery(run.Windows)
}

// totals is a run being summed up: sums, one line for each key, and one mark for each attempt.
type totals struct {
	contract contract.Contract
	counts   verdict.Counts
	keyOf    map[int64]int // operation → place in keys
	keys     []keyFate
	marks    []mark
	cases    map[int64]*verdict.Case
	faults   []history.Fault

	endpoints endpoints
}

// keyFate is when a key was first sent and when it was settled.
type keyFate struct {
	first, final int64
}

// mark is one attempt on the time axis.
type mark struct {
	done, took int64
	ended      string
	status     int32
	replica    int32
	key        int32 // place in totals.keys; -1 without a key
	endpoint   int32 // place in totals.endpoints; -1 of an operation that was not planned
	late       int64 // how long it was sent after it was due
	bad        bool
}

func (t *totals) readOperations(in Input) {
	places := map[name]int{}
	for o, err := range in.Operations {
		if err != nil {
			break
		}
		t.counts.Operations++
		t.endpoints.add(t.contract, &o)
		if c := t.cases[o.ID]; c != nil {
			c.Operation = o
		}
		if o.Key == "" {
			continue
		}
		n := name{key: o.Key, user: o.User, endpoint: o.Route}
		place, ok := places[n]
		if !ok {
			place = len(t.keys)
			places[n] = place
			t.keys = append(t.keys, keyFate{first: forever, final: forever})
		}
		t.keyOf[o.ID] = place
	}
	t.counts.Keys = int64(len(t.keys))
}

func (t *totals) addAttempt(a *history.Attempt) {
	t.counts.Attempts++
	ended := string(a.Outcome)
	answer := contract.AnswerUnknown
	switch a.Outcome {
	case history.Returned:
		t.counts.Returned++
		answer = t.contract.Classify(a.Status, a.Marked, a.Body)
		ended = shownAnswer(answer)
		t.counts.Answers[ended]++
	case history.Lost:
		t.counts.Lost++
	case history.Unsent:
		t.counts.Unsent++
	case history.Cut:
		t.counts.Cut++
	}
	place, keyed := t.keyOf[a.Op]
	if !keyed {
		place = -1
	}
	t.marks = append(t.marks, mark{
		done: a.DoneNS, took: a.DoneNS - a.SentNS, ended: ended, status: int32(a.Status), replica: int32(a.Replica), key: int32(place), bad: bad(a),
		endpoint: t.endpoints.of(a.Op), late: a.SentNS - a.IntendedNS,
	})
	if c := t.cases[a.Op]; c != nil {
		c.Attempts = append(c.Attempts, *a)
		c.Answers = append(c.Answers, string(answer))
	}
	if keyed {
		k := &t.keys[place]
		k.first = min(k.first, a.SentNS)
		if answer.Final() {
			k.final = min(k.final, a.DoneNS)
		}
	}
}

func shownAnswer(a contract.Answer) string {
	if a == contract.AnswerUnknown {
		return "unknown"
	}
	return string(a)
}

func wantedCases(v verdict.Verdict) map[int64]*verdict.Case {
	wanted := map[int64]*verdict.Case{}
	for _, f := range v.Findings {
		for _, violation := range f.Violations {
			for _, ref := range violation.Ops {
				wanted[ref.Op] = &verdict.Case{}
			}
		}
	}
	return wanted
}

func (t *totals) caseList() (list []verdict.Case) {
	for _, c := range t.cases {
		if c.Operation.ID != 0 {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b verdict.Case) int { return compare(a.Operation.ID, b.Operation.ID) })
	return list
}

// timeline cuts the run into equal stretches by the end of its attempts.
func (t *totals) timeline() (list []verdict.Slot) {
	if len(t.marks) == 0 {
		return nil
	}
	slices.SortFunc(t.marks, func(a, b mark) int { return compare(a.done, b.done) })
	last := t.marks[len(t.marks)-1].done
	width := max(last/slots+1, int64(time.Millisecond))
	rest := t.marks
	for from := int64(0); from <= last; from += width {
		n, _ := slices.BinarySearchFunc(rest, from+width, func(m mark, until int64) int { return compare(m.done, until) })
		list = append(list, slotOf(from, width, rest[:n]))
		rest = rest[n:]
	}
	for _, m := range t.marks {
		at := min(max(m.done-m.took, 0)/width, int64(len(list)-1))
		list[at].Late = max(list[at].Late, time.Duration(m.late))
	}
	return list
}

// slotOf sums one stretch up. An attempt that was not sent, or not whole, says nothing about the server's speed.
func slotOf(from, width int64, marks []mark) verdict.Slot {
	s := verdict.Slot{AtNS: from, ForNS: width, Ended: map[string]int64{}}
	var took []int64
	for _, m := range marks {
		s.Ended[m.ended]++
		if m.ended != string(history.Unsent) && m.ended != string(history.Cut) {
			took = append(took, m.took)
		}
	}
	if len(took) > 0 {
		slices.Sort(took)
		s.P50 = time.Duration(took[(len(took)-1)/2])
		s.Max = time.Duration(took[len(took)-1])
	}
	return s
}
