package check

import (
	"bytes"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// routes are the contract's, to be found without a search for every operation.
type routes struct {
	byScope map[string]*contract.Route
	scopes  map[string]string // by a route's id
}

func routesOf(c contract.Contract) routes {
	r := routes{byScope: map[string]*contract.Route{}, scopes: map[string]string{}}
	for i := range c.Routes {
		route := &c.Routes[i]
		r.byScope[route.Scope()] = route
		if _, ok := r.scopes[route.ID]; !ok { // the first, as Contract.Route has it
			r.scopes[route.ID] = route.Scope()
		}
	}
	return r
}

// endpoint is the operation's part of its key's scope.
func (r routes) endpoint(o *history.Operation) string {
	if scope, ok := r.scopes[o.Route]; ok {
		return scope
	}
	return o.Method + " " + o.Path
}

// classifier classifies answers. Refusals are alike to the letter, by the million, and looking into one costs more than all rules together: the
// last one of each status is remembered.
type classifier struct {
	contract contract.Contract
	last     map[refusal]known
}

// refusal is what an answer's meaning depends on, beside its body.
type refusal struct {
	status int
	marked bool
}

type known struct {
	body   []byte
	answer contract.Answer
}

func (c *classifier) of(a *history.Attempt) contract.Answer {
	if a.Status < 400 { // its body says nothing
		return c.contract.Classify(a.Status, a.Marked, nil)
	}
	like := refusal{a.Status, a.Marked}
	if k, ok := c.last[like]; ok && bytes.Equal(k.body, a.Body) {
		return k.answer
	}
	if c.last == nil {
		c.last = map[refusal]known{}
	}
	k := known{bytes.Clone(a.Body), c.contract.Classify(a.Status, a.Marked, a.Body)}
	c.last[like] = k
	return k.answer
}
