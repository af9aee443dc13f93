package plan

import (
	"errors"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// situationsShape uses keys (for each situation), clients. It brings about every situation that the contract promises something for and the
// target gives the means to.
var situationsShape = Shape{
	Name: "situations", Foreign: true, build: buildSituations,
	Does: "each situation of a target's contract by itself, under keys of its own",
}

// probe brings one situation about, under one key.
type probe func(b *builder, client int)

var probes = map[contract.Situation]probe{
	contract.FirstUse:      probeFirst,
	contract.Repeated:      func(b *builder, client int) { b.twice(contract.Repeated, client, Usual, Usual) },
	contract.OtherRequest:  func(b *builder, client int) { b.twice(contract.OtherRequest, client, Usual, Other) },
	contract.AfterRefusal:  func(b *builder, client int) { b.twice(contract.AfterRefusal, client, Refused, Refused) },
	contract.AfterFailure:  func(b *builder, client int) { b.twice(contract.AfterFailure, client, Failing, Failing) },
	contract.SameInFlight:  func(b *builder, client int) { b.atOnce(contract.SameInFlight, client, Slow, Slow, Slow) },
	contract.OtherInFlight: func(b *builder, client int) { b.atOnce(contract.OtherInFlight, client, Slow, Slow, Slow, Other) },
	contract.KeyMissing:    func(b *builder, client int) { b.probe(b.stray(), contract.KeyMissing, client) },
	contract.KeyMalformed:  probeMalformed,
	contract.OtherUser:     probeOtherUser,
}

func buildSituations(b *builder) {
	if !b.foreign() {
		b.err = errors.New("shape: situations are of a target")
		return
	}
	client := 0
	for _, s := range contract.Situations {
		for range b.Keys {
			if probe, can := probes[s]; can && b.promised(s) && !b.done() {
				probe(b, client%b.Clients)
				client++
			}
		}
	}
}

// probe sends an operation whose answer is looked at.
func (b *builder) probe(o history.Operation, s contract.Situation, client int) int64 {
	o.Client, o.Once, o.Spelling = client, true, s.Probe()
	return b.send(o)
}

// first sends what a situation begins with. Its own answer is no example of it.
func (b *builder) first(o history.Operation, s contract.Situation, client int) int64 {
	o.Client, o.Once, o.Spelling = client, true, s.First()
	return b.send(o)
}

func probeFirst(b *builder, client int) { b.probe(b.fresh(false), contract.FirstUse, client) }

// probeMalformed sends one line once: a service that takes it for a key would answer the second by what it knows of the first.
func probeMalformed(b *builder, client int) {
	key := b.requests.Key(b.bytes())
	line := b.requests.Malformed(key)
	if line == b.malformed {
		return
	}
	b.malformed = line
	o := b.asking(b.stray(line), Usual, key)
	b.probe(o, contract.KeyMalformed, client)
}

// twice sends a request, and when it was answered another under the same key.
func (b *builder) twice(s contract.Situation, client int, kind, again Kind) {
	o := b.underKey(b.ask(b.pick(false)), kind)
	after := b.first(o, s, client)
	if again != kind {
		o = b.asking(o, again, o.Key)
	}
	o.After = after
	b.probe(o, s, client)
}

// atOnce sends requests under one key at one instant: whichever comes first, the others meet it in flight.
func (b *builder) atOnce(s contract.Situation, client int, kinds ...Kind) {
	o := b.underKey(b.ask(b.pick(false)), kinds[0])
	o.Group = b.nextGroup()
	for _, kind := range kinds {
		d := o
		if kind != kinds[0] {
			d = b.asking(o, kind, o.Key)
		}
		b.probe(d, s, client)
	}
}

func probeOtherUser(b *builder, client int) {
	o := b.fresh(false)
	o.User = b.accounts[0].ID
	o.After = b.first(o, contract.OtherUser, client)
	o.User = b.accounts[1].ID
	b.probe(o, contract.OtherUser, client)
}
