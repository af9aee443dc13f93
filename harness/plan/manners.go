package plan

import (
	"errors"
	"slices"

	"github.com/idemstorm/idemstorm/harness/history"
)

// Manners are how clients misbehave while they send. The numbers are shares, 0 to 1, of the phase's operations that have a key and do not
// give up (see GiveUp); an operation has one of the manners at most. Its first attempt shows them, the later ones are sent in order.
type Manners struct {
	CutBody  float64  `yaml:"cut_body"`  // the client closes its connection in the middle of the body
	SlowBody SlowBody `yaml:"slow_body"` // the client sends its body in pieces
	Twin     float64  `yaml:"twin"`      // the client sends the request through two connections, the last byte of both at one instant
}

// SlowBody is a share of operations, and how long their bodies take.
type SlowBody struct {
	Share float64  `yaml:"share"`
	Over  Duration `yaml:"over"`
}

func (m Manners) sum() float64 { return m.CutBody + m.SlowBody.Share + m.Twin }

func (m Manners) validate(deadline Duration) error {
	err := first(
		within("cut_body", m.CutBody, 0, 1),
		within("slow_body.share", m.SlowBody.Share, 0, 1),
		within("slow_body.over", m.SlowBody.Over, 0, deadline),
		within("twin", m.Twin, 0, 1),
		must(m.SlowBody.Share == 0 || m.SlowBody.Over > 0, "slow_body.over: it is missing, and slow_body.share is not 0"),
	)
	if err == nil && m.sum() > 1+1e-9 {
		err = errors.New("twin: it and the other shares come to more than 1")
	}
	return err
}

func (p Phase) validateManners() error {
	if err := p.Manners.validate(p.Deadline); err != nil {
		return err
	}
	shape, _ := findShape(p.Shape)
	return must(shape.manners || p.Manners.sum() == 0, "cut_body: the clients of shape %s have no manners", p.Shape)
}

// behave gives an operation the manners of its client. It draws nothing where the phase has none, so that older plans stay as they are.
func (b *builder) behave(o *history.Operation) {
	b.impatient(o)
	m := b.Manners
	if m.sum() == 0 || o.Key == "" || o.GiveUpNS > 0 {
		return
	}
	switch n := b.rnd.Float64(); {
	case n < m.CutBody:
		o.CutBody = b.missing(o.Body)
	case n < m.CutBody+m.SlowBody.Share:
		o.SlowNS = int64(m.SlowBody.Over)
	case n < m.sum():
		o.Twin = true
	}
}

// missing is how many bytes a cut body lacks, at least one. Half of those that end in a line break lack that alone: what arrives is then whole
// JSON, and only the promised length says that something is missing.
func (b *builder) missing(body []byte) int64 {
	if len(body) == 0 {
		return 0
	}
	if body[len(body)-1] == '\n' && b.rnd.IntN(2) == 0 {
		return 1
	}
	return 1 + b.rnd.Int64N(int64(len(body)))
}

// ended ends a body with a line break, as many encoders do, where bodies are going to be cut.
func (b *builder) ended(body []byte) []byte {
	if b.Manners.CutBody == 0 {
		return body
	}
	return append(slices.Clip(body), '\n')
}
