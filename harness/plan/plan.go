package plan

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// Input is everything that a plan follows from.
type Input struct {
	Spec     Spec
	Seed     uint64
	Contract contract.Contract
	Accounts []Account // what the subject's fixture really holds; not changed
	Requests Requests  // of somebody else's server; nil for the bundled one
}

// Plan is a workload with every operation fixed. Operations are made anew each time they are asked for, so a plan of any length takes little
// memory. A Plan is safe for concurrent use.
type Plan struct {
	in     Input
	phases []planned
	digest string
}

// planned is a phase with the numbers that its operations start from.
type planned struct {
	Phase
	first, group int64 // last operation id and group number before it
	count        int64
	positions    []position
}

// Build plans a workload. It fails when the spec is not valid, or when the contract or the fixture lacks what it needs.
func Build(in Input) (*Plan, error) {
	if err := in.Spec.Validate(); err != nil {
		return nil, err
	}
	if len(in.Accounts) == 0 {
		return nil, errors.New("fixture: the subject holds no account")
	}
	p := &Plan{in: in, phases: make([]planned, len(in.Spec.Phases))}
	shares := sharePositions(in.Accounts, len(p.phases))
	sum := NewDigester()
	var id, group int64
	for i, spec := range in.Spec.Phases {
		p.phases[i] = planned{Phase: spec.complete(), first: id, group: group, positions: shares[i]}
		b := p.builder(i)
		err := b.run(func(o history.Operation) bool {
			sum.Add(&o)
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("phases[%d].%w", i, err)
		}
		p.phases[i].count = b.id - id
		id, group = b.id, b.group
	}
	p.digest = sum.Digest()
	return p, nil
}

// Operations yields all operations in the order of their ids.
func (p *Plan) Operations() iter.Seq[history.Operation] {
	return func(yield func(history.Operation) bool) {
		for i := range p.phases {
			for o := range p.Phase(i) {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Phase yields the operations of one phase, by its place in Phases.
func (p *Plan) Phase(i int) iter.Seq[history.Operation] {
	return func(yield func(history.Operation) bool) {
		_ = p.builder(i).run(yield) // Build has run it once without an error
	}
}

// Phases are the phases of the spec, with what was left out filled in.
func (p *Plan) Phases() []Phase {
	out := make([]Phase, len(p.phases))
	for i := range p.phases {
		out[i] = p.phases[i].Phase
	}
	return out
}

// Count is the number of operations of one phase, by its place in Phases.
func (p *Plan) Count(i int) int64 { return p.phases[i].count }

// Total is the number of operations.
func (p *Plan) Total() (n int64) {
	for _, ph := range p.phases {
		n += ph.count
	}
	return n
}

// Digest is the SHA-256 over all encoded operations, one a line, in hexadecimal. Another digest for the same seed means another plan.
func (p *Plan) Digest() string { return p.digest }

// Seed is the seed that the plan was made from.
func (p *Plan) Seed() uint64 { return p.in.Seed }

// Retry finds a retry policy by its name; without one a client makes a single attempt.
func (p *Plan) Retry(name string) Retry {
	if r, ok := p.in.Spec.Retries[name]; ok {
		return r
	}
	return Retry{Attempts: 1}
}

// position is one position of the fixture, and whose it is.
type position struct{ id, user int64 }

// sharePositions deals the fixture's positions to phases in equal parts, so that what one phase uses does not shift another's. Within a part
// the owners take turns.
func sharePositions(accounts []Account, phases int) [][]position {
	var all []position
	for i, more := 0, true; more; i++ {
		more = false
		for _, a := range accounts {
			if i < len(a.Positions) {
				all = append(all, position{id: a.Positions[i], user: a.ID})
				more = true
			}
		}
	}
	out := make([][]position, phases)
	for i := range out {
		out[i] = slices.Clip(all[len(all)*i/phases : len(all)*(i+1)/phases])
	}
	return out
}
