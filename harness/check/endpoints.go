package check

import (
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// endpoints sums a run up by what was asked. The zero value is empty and ready.
type endpoints struct {
	list  []verdict.Endpoint
	named map[string]int32 // by route, or by method and path where the contract has none
	ofOp  placesByID
}

// add counts an operation for its endpoint. Routes of the contract are one endpoint whatever their path's ids are.
func (e *endpoints) add(c contract.Contract, o *history.Operation) {
	if e.named == nil {
		e.named = map[string]int32{}
	}
	place, known := e.named[o.Route]
	if !known {
		place = e.place(c, o)
	}
	e.list[place].Operations++
	e.ofOp.put(o.ID, place)
}

// place finds the endpoint of an operation whose route was not met before, or is none of the contract's.
func (e *endpoints) place(c contract.Contract, o *history.Operation) int32 {
	id := o.Method + " " + o.Path
	name := id
	if route, known := c.Route(o.Route); known {
		id, name = o.Route, route.Scope()
	}
	place, known := e.named[id]
	if !known {
		place = int32(len(e.list))
		e.named[id] = place
		e.list = append(e.list, verdict.Endpoint{Route: o.Route, Endpoint: name, Ended: map[string]int64{}})
	}
	return place
}

// of is the place of an operation's endpoint; -1 of an operation that was not planned.
func (e *endpoints) of(op int64) int32 { return e.ofOp.of(op) }

// table counts the attempts. Only what was answered says how fast the server is.
func (e *endpoints) table(marks []mark, names *endings) []verdict.Endpoint {
	took := e.room(marks)
	for i := range marks {
		m := &marks[i]
		if m.endpoint < 0 {
			continue
		}
		row := &e.list[m.endpoint]
		row.Attempts++
		row.Ended[(*names)[m.ended]]++
		if m.status != 0 {
			took[m.endpoint] = append(took[m.endpoint], m.took)
		}
	}
	for i := range e.list {
		row := &e.list[i]
		row.P50, row.P99, row.Max = latency.Exact(took[i])
	}
	return e.list
}

// room is for the times of each endpoint, as many as there are marks of it.
func (e *endpoints) room(marks []mark) [][]int64 {
	n, took := make([]int, len(e.list)), make([][]int64, len(e.list))
	for i := range marks {
		if at := marks[i].endpoint; at >= 0 {
			n[at]++
		}
	}
	for i := range took {
		took[i] = make([]int64, 0, n[i])
	}
	return took
}
