package check

import (
	"iter"
	"slices"
	"sync"
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
	t := newTotals(in)
	for range t.operations(in.Operations) {
	}
	for range t.events(in.Events) {
	}
	t.sum()
	t.fill(in, run)
}

// JudgeRun is Judge and Summarise, and reads the plan and the history once for both. What it reads a second time is for counterexamples only.
func JudgeRun(in Input, run *verdict.Run) {
	t := newTotals(in)
	watched := in
	watched.Operations, watched.Events = first(t.operations(in.Operations), in.Operations), first(t.events(in.Events), in.Events)
	ix := newIndex(watched)
	var summing sync.WaitGroup
	summing.Go(t.sum)
	run.Verdict = judge(watched, ix)
	summing.Wait()
	t.fill(in, run)
}

// first is one sequence the first time it is ranged over, and rest from then on.
func first[T any](once, rest iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seq := once
		once = rest
		seq(yield)
	}
}

func newTotals(in Input) *totals {
	return &totals{contract: in.Contract, places: map[name]int32{}, answers: classifier{contract: in.Contract}, counts: verdict.Counts{Answers: map[string]int64{}}}
}

// sum makes of the attempts what does not depend on the verdict. From then on nobody asks what belongs to which operation.
func (t *totals) sum() {
	t.places, t.keyOf, t.endpoints.ofOp = nil, placesByID{}, placesByID{}
	t.slots = t.timeline()
	t.table = t.endpoints.table(t.marks, &t.endings)
}

func (t *totals) fill(in Input, run *verdict.Run) {
	run.Counts, run.Timeline, run.Endpoints, run.Cases = t.counts, t.slots, t.table, casesOf(in, run.Verdict)
	run.Faults, run.Windows = t.faults, t.faultTable(run.Verdict)
	run.Recovery = recovery(run.Windows)
}

// operations passes a plan on and sums it up on the way.
func (t *totals) operations(seq iter.Seq2[history.Operation, error]) iter.Seq2[history.Operation, error] {
	return func(yield func(history.Operation, error) bool) {
		for o, err := range seq {
			if err == nil {
				t.addOperation(&o)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// events passes a history on and sums it up on the way.
func (t *totals) events(seq iter.Seq2[history.Event, error]) iter.Seq2[history.Event, error] {
	return func(yield func(history.Event, error) bool) {
		for e, err := range seq {
			switch {
			case err != nil:
			case e.Attempt != nil:
				t.addAttempt(e.Attempt)
			case e.Fault != nil:
				t.faults = append(t.faults, *e.Fault)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// totals is a run being summed up: sums, one line for each key, and one mark for each attempt.
type totals struct {
	contract contract.Contract
	counts   verdict.Counts
	answers  classifier
	places   map[name]int32 // of keys
	keyOf    placesByID
	keys     []keyFate
	marks    []mark
	endings  endings
	slots    []verdict.Slot
	table    []verdict.Endpoint
	faults   []history.Fault

	endpoints endpoints
}

// placesByID are the places in totals.keys of operations, whose ids are dense, as a rule, and in order; -1 without a key.
type placesByID struct {
	dense []int32
	rest  map[int64]int32
}

func (p *placesByID) put(id int64, place int32) {
	switch {
	case id == int64(len(p.dense))+1:
		p.dense = append(p.dense, place)
		return
	case p.rest == nil:
		p.rest = map[int64]int32{}
	}
	p.rest[id] = place
}

func (p *placesByID) of(id int64) int32 {
	if place, ok := p.rest[id]; ok {
		return place
	}
	if id < 1 || id > int64(len(p.dense)) {
		return -1
	}
	return p.dense[id-1]
}

// keyFate is when a key was first sent and when it was settled.
type keyFate struct {
	first, final int64
}

// mark is one attempt on the time axis.
type mark struct {
	done, took int64
	late       int64 // how long it was sent after it was due
	key        int32 // place in totals.keys; -1 without a key
	endpoint   int32 // place in totals.endpoints; -1 of an operation that was not planned
	status     int16
	replica    int16
	ended      uint8 // place in totals.endings
	bad        bool
}

// endings are the ways in which attempts ended, as reports name them: there are few.
type endings []string

func (e *endings) place(name string) uint8 {
	i := slices.Index(*e, name)
	if i < 0 {
		i = len(*e)
		*e = append(*e, name)
	}
	return uint8(i)
}

func (t *totals) addOperation(o *history.Operation) {
	t.counts.Operations++
	t.endpoints.add(t.contract, o)
	if o.Key == "" {
		t.keyOf.put(o.ID, -1)
		return
	}
	n := name{key: o.Key, user: o.User, endpoint: o.Route}
	place, ok := t.places[n]
	if !ok {
		place = int32(len(t.keys))
		t.places[n] = place
		t.keys = append(t.keys, keyFate{first: forever, final: forever})
		t.counts.Keys++
	}
	t.keyOf.put(o.ID, place)
}

func (t *totals) addAttempt(a *history.Attempt) {
	t.counts.Attempts++
	ended := string(a.Outcome)
	answer := contract.AnswerUnknown
	switch a.Outcome {
	case history.Returned:
		t.counts.Returned++
		answer = t.answers.of(a)
		ended = shownAnswer(answer)
		t.counts.Answers[ended]++
	case history.Lost:
		t.counts.Lost++
	case history.Unsent:
		t.counts.Unsent++
	case history.Cut:
		t.counts.Cut++
	}
	place := t.keyOf.of(a.Op)
	if t.marks == nil {
		t.marks = make([]mark, 0, t.counts.Operations+t.counts.Operations/4) // some operations are asked for again
	}
	t.marks = append(t.marks, mark{
		done: a.DoneNS, took: a.DoneNS - a.SentNS, ended: t.endings.place(ended), status: int16(a.Status), replica: int16(a.Replica), key: place, bad: bad(a),
		endpoint: t.endpoints.of(a.Op), late: a.SentNS - a.IntendedNS,
	})
	if place >= 0 {
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
		list = append(list, t.slotOf(from, width, rest[:n]))
		rest = rest[n:]
	}
	for _, m := range t.marks {
		at := min(max(m.done-m.took, 0)/width, int64(len(list)-1))
		list[at].Late = max(list[at].Late, time.Duration(m.late))
	}
	return list
}

// slotOf sums one stretch up. An attempt that was not sent, or not whole, says nothing about the server's speed.
func (t *totals) slotOf(from, width int64, marks []mark) verdict.Slot {
	s := verdict.Slot{AtNS: from, ForNS: width, Ended: map[string]int64{}}
	took := make([]int64, 0, len(marks))
	for _, m := range marks {
		ended := t.endings[m.ended]
		s.Ended[ended]++
		if ended != string(history.Unsent) && ended != string(history.Cut) {
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
