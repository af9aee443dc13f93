package explore

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// op is one step of a simulated actor.
type op struct {
	kind string // read, write, lock, unlock, local
	on   string
}

func (o op) footprint() schedule.Footprint {
	switch o.kind {
	case "local":
		return schedule.Footprint{}
	case "read":
		return schedule.Footprint{Reads: []string{o.on}}
	}
	return schedule.Footprint{Writes: []string{o.on}}
}

// sim is a system without a server: actors run programs on variables and locks, and what each read, and the order of
// writes, is the outcome. violated says which outcomes count as violations.
type sim struct {
	programs [][]op
	violated func(schedule.Outcome) bool
	runs     int
	flip     func(run int) bool // makes the system unfaithful: its first actor runs another program
}

func (s *sim) Begin(context.Context) (Run, error) {
	s.runs++
	r := &simRun{sim: s, at: make([]int, len(s.programs)), blocked: make([]bool, len(s.programs)), state: map[string]string{}, holder: map[string]int{}}
	r.programs = slices.Clone(s.programs)
	if s.flip != nil && s.flip(s.runs) {
		r.programs[0] = []op{{"write", "elsewhere"}}
	}
	r.seen = make([]string, len(s.programs))
	return r, nil
}

type simRun struct {
	sim      *sim
	programs [][]op
	at       []int
	blocked  []bool
	state    map[string]string
	holder   map[string]int // actor+1
	queue    []int
	seen     []string
}

func (r *simRun) step(actor int) schedule.Step {
	o := r.programs[actor][r.at[actor]]
	return schedule.Step{Actor: actor, Conn: 1, Kind: schedule.Statement, SQL: fmt.Sprintf("%s %s_%d", o.kind, o.on, r.at[actor]), Footprint: o.footprint()}
}

func (r *simRun) Settle(context.Context) (Moment, error) {
	m := Moment{Over: true}
	for actor, program := range r.programs {
		switch {
		case r.blocked[actor]:
			m.Over = false
			m.Blocked = append(m.Blocked, schedule.Blocked{Step: r.step(actor), On: []int{r.holder[program[r.at[actor]].on] - 1}})
		case r.at[actor] < len(program):
			m.Over = false
			m.Held = append(m.Held, r.step(actor))
		}
	}
	if !m.Over && len(m.Held) == 0 {
		m.Over = true // a deadlock ends a schedule
	}
	return m, nil
}

func (r *simRun) Release(step schedule.Step) error {
	r.run(step.Actor)
	return nil
}

func (r *simRun) run(actor int) {
	o := r.programs[actor][r.at[actor]]
	switch o.kind {
	case "read":
		r.seen[actor] += o.on + "=" + r.state[o.on] + ";"
	case "write":
		r.state[o.on] += fmt.Sprint(actor)
	case "lock":
		if r.holder[o.on] != 0 && r.holder[o.on] != actor+1 {
			r.blocked[actor] = true
			r.queue = append(r.queue, actor)
			return
		}
		r.holder[o.on] = actor + 1
	case "unlock":
		r.at[actor]++
		r.unlock(o.on, actor)
		return
	}
	r.at[actor]++
}

func (r *simRun) unlock(lock string, actor int) {
	if r.holder[lock] != actor+1 {
		return
	}
	r.holder[lock] = 0
	for i, waiter := range r.queue {
		if r.programs[waiter][r.at[waiter]].on == lock {
			r.queue = slices.Delete(r.queue, i, i+1)
			r.blocked[waiter] = false
			r.run(waiter)
			return
		}
	}
}

func (r *simRun) Finish(context.Context) (schedule.Outcome, error) {
	var state []string
	for name, value := range r.state {
		state = append(state, name+":"+value)
	}
	sort.Strings(state)
	answers := slices.Clone(r.seen)
	for actor := range answers {
		answers[actor] += fmt.Sprintf(" stopped at %d", r.at[actor])
	}
	o := schedule.Outcome{Answers: answers, Record: strings.Join(state, " ")}
	if r.sim.violated != nil && r.sim.violated(o) {
		o.Violated = []schedule.Violation{{Invariant: "at-most-once", Sentence: "twice"}}
	}
	return o, nil
}
