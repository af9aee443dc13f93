// Package check judges a run: one invariant of contract section 8 a file, each a pure function of the contract, the history and
// the evidence.
//
// It stands between the facts and the reports. It has no clock, no network and no memory of other runs: the same files give the
// same verdict. Success is decided here and nowhere else.
package check

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Input is everything that a verdict follows from. Operations and Events may be ranged over more than once; nothing of what they yield is kept
// beyond its turn, but for strings.
type Input struct {
	Scenario   string
	Contract   contract.Contract
	Operations iter.Seq2[history.Operation, error]
	Events     iter.Seq2[history.Event, error]
	Evidence   evidence.Set
	Missing    string // why there is no evidence at all; "" where there is

	// Rows gives the evidence in place of the two above, where it is read beside the rest. It is asked once, when plan and history have been read.
	// The set's replays are packed, and its own list of them says no more than whether they were asked for.
	Rows func() (set evidence.Set, replays *evidence.Replays, missing string)

	Claimed []string // ids of the invariants that the scenario claims to exercise
	Limits  Limits
}

// Limits are the bounds that are the scenario's to choose. Zero values take the defaults.
type Limits struct {
	Recovery  time.Duration // from the last heal, or the end of the traffic, to the last final answer; 30 s
	Slack     time.Duration // what an answer may be late beyond the server's own deadline; 250 ms
	CrossKeys int           // keys that porcupine looks at beside the rules; 2,000, negative for none
	Loss      Loss          // the weakened durability that the scenario states, if any
	CrossTime time.Duration // porcupine's limit for one key; 200 ms
}

func (l Limits) withDefaults() Limits {
	orElse(&l.Recovery, 30*time.Second)
	orElse(&l.Slack, 250*time.Millisecond)
	orElse(&l.CrossKeys, 2000)
	orElse(&l.CrossTime, 200*time.Millisecond)
	return l
}

func orElse[T comparable](value *T, byDefault T) {
	var zero T
	if *value == zero {
		*value = byDefault
	}
}

// claims says whether an invariant is claimed. Of somebody else's server a scenario cannot claim what the contract does not state.
func (in Input) claims(id string) bool {
	_, unstated := in.Contract.Unstated[id]
	return slices.Contains(in.Claimed, id) && !(in.Contract.Foreign && unstated)
}

// foreign judges what is judged of somebody else's server alone: each situation that the scenario brings about, and whether several sources
// of evidence agree.
func (in Input) foreign(ix *index) (list []verdict.Finding) {
	if !in.Contract.Foreign {
		return nil
	}
	for _, inv := range foreignInvariants {
		f := inv.find(ix, in.claims(inv.ID))
		if f.Looked > 0 || slices.Contains(in.Claimed, inv.ID) {
			list = append(list, f)
		}
	}
	return list
}

// findAll judges every invariant, several at a time: the index does not change any more.
func (in Input) findAll(ix *index) []verdict.Finding {
	list := make([]verdict.Finding, len(Invariants))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, inv := range Invariants {
		group.Go(func() error {
			list[i] = inv.find(ix, in.claims(inv.ID))
			return nil
		})
	}
	_ = group.Wait() // nothing fails
	return list
}

// Judge gives the verdict of one run: every invariant of Invariants, in that order. Latency gates are not its business.
func Judge(in Input) verdict.Verdict {
	return judge(in, newIndex(in))
}

func judge(in Input, ix *index) verdict.Verdict {
	v := verdict.Verdict{Scenario: in.Scenario, Doubts: ix.doubts, Interrupted: ix.interrupted, Partial: ix.partial != ""}
	v.Findings = append(in.findAll(ix), in.foreign(ix)...)
	for _, id := range in.Claimed {
		if !Known(id) {
			v.Doubts = append(v.Doubts, fmt.Sprintf("the scenario claims %q, which no check judges", id))
		}
	}
	quoteBodies(in.Events, v.Findings)
	v.Losses = ix.losses()
	nameOrders(in.Events, v.Losses)
	return v
}
