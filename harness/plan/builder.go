package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// Shape is one kind of traffic.
type Shape struct {
	Name   string
	Does   string // one sentence for people
	Open   bool   // it can be sent in an open loop too
	Groups bool   // its duplicates are released at one instant

	Foreign bool // of somebody else's server only

	build func(*builder)

	bundled bool // its requests are variations of the bundled server's
	follows bool // it takes its keys from an earlier phase
	manners bool // its clients may misbehave
}

// Shapes are all kinds of traffic that a phase may name.
var Shapes = []Shape{raceShape, againShape, stormShape, spellingsShape, trafficShape, malformedShape, rivalsShape, situationsShape}

func findShape(name string) (Shape, bool) {
	i := slices.IndexFunc(Shapes, func(s Shape) bool { return s.Name == name })
	if i < 0 {
		return Shape{}, false
	}
	return Shapes[i], true
}

func shapeNames() (names []string) {
	for _, s := range Shapes {
		names = append(names, s.Name)
	}
	return names
}

// builder makes one phase's operations. Shapes call its methods in a fixed order, which is what makes a plan repeat.
type builder struct {
	planned
	earlier  iter.Seq[history.Operation] // of the phase that this one follows
	contract contract.Contract
	requests Requests // nil for the bundled server's
	accounts []Account
	rnd      *rand.Rand // from seed, phase name and place: phases do not shift one another's numbers
	routes   []weighted

	id, group int64
	serial    int64  // requests asked for so far, for their identity
	malformed string // the line that was sent last and is no key
	yield     func(history.Operation) bool
	stopped   bool // nobody wants more
	err       error
}

type weighted struct {
	route    contract.Route
	template template
	weight   int
}

func (p *Plan) builder(i int) *builder {
	ph := p.phases[i]
	return &builder{
		planned: ph, earlier: p.named(ph.Of), contract: p.in.Contract, requests: p.in.Requests, accounts: p.in.Accounts, rnd: rand.New(phaseSource(p.in.Seed, ph.Name, i)),
		id: ph.first, group: ph.group,
	}
}

// named yields the operations of a phase by its name.
func (p *Plan) named(name string) iter.Seq[history.Operation] {
	return func(yield func(history.Operation) bool) {
		for i := range p.phases {
			if p.phases[i].Name == name {
				p.Phase(i)(yield)
			}
		}
	}
}

func phaseSource(seed uint64, phase string, index int) rand.Source {
	b := binary.BigEndian.AppendUint64([]byte("idemstorm plan 1 "), seed)
	b = binary.BigEndian.AppendUint64(b, uint64(index))
	return rand.NewChaCha8(sha256.Sum256(append(b, phase...)))
}

// run makes all operations, until yield returns false.
func (b *builder) run(yield func(history.Operation) bool) error {
	b.yield = yield
	for _, id := range slices.Sorted(maps.Keys(b.Mix)) {
		r, ok := b.contract.Route(id)
		if !ok {
			return fmt.Errorf("mix.%s: the contract of the subject has no such route", id)
		}
		t, _ := findTemplate(id)
		if b.Mix[id] > 0 {
			b.routes = append(b.routes, weighted{r, t, b.Mix[id]})
		}
	}
	shape, _ := findShape(b.Shape)
	if b.foreign() && shape.bundled {
		return errForeignShape
	}
	shape.build(b)
	return b.err
}

// send gives o its id and passes it on. It returns the id.
func (b *builder) send(o history.Operation) int64 {
	b.id++
	o.ID, o.Replica = b.id, b.Replica
	if b.Service {
		o.User = history.ServiceUser
	}
	if !b.stopped {
		b.stopped = !b.yield(o)
	}
	return o.ID
}

// done reports whether making more is pointless.
func (b *builder) done() bool { return b.stopped || b.err != nil }

// nextGroup is a new number for operations released at one instant.
func (b *builder) nextGroup() int64 {
	b.group++
	return b.group
}

// key makes a version 4 UUID.
func (b *builder) key() string {
	var u uuid.UUID
	binary.BigEndian.PutUint64(u[:8], b.rnd.Uint64())
	binary.BigEndian.PutUint64(u[8:], b.rnd.Uint64())
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}

// fresh is an operation of the mix under a key of its own. refused asks for what the account cannot pay, where the mix has a route for that.
func (b *builder) fresh(refused bool) history.Operation {
	w := b.pick(refused)
	o := b.ask(w)
	if b.foreign() {
		return b.underKey(o, b.kindOf(refused))
	}
	if refused && w.route.ID == "order" {
		o.Body = []byte(orderOf(symbol(b.rnd), refusedQuantity))
	}
	o.Body = b.ended(o.Body)
	key := b.key()
	o.Keys, o.Key = []string{key}, key
	return o
}

// ask is an operation on a route, without a key.
func (b *builder) ask(w weighted) history.Operation {
	b.serial++
	o := history.Operation{
		Phase: b.Name, Route: w.route.ID, User: b.accounts[b.rnd.IntN(len(b.accounts))].ID,
		Method: w.route.Method, Path: w.route.Pattern,
		Request:     fmt.Sprintf("%s/%s#%d", b.Name, w.route.ID, b.serial),
		ContentType: "application/json", DeadlineNS: int64(b.Deadline), Retry: b.Retry,
	}
	if b.foreign() { // its headers are the driver's
		o.ContentType = ""
		return b.asking(o, Usual, b.requests.Key(b.bytes()))
	}
	if w.template.position {
		pos := b.positions[0] // pick made sure that there is one
		b.positions = b.positions[1:]
		o.User, o.Path = pos.user, fillPath(w.route, strconv.FormatInt(pos.id, 10))
	}
	o.Body = []byte(w.template.body(b.rnd))
	return o
}

// pick draws a route by weight. Routes that use a position up drop out when the phase's positions are used up.
func (b *builder) pick(refused bool) weighted {
	var can []weighted
	total := 0
	for _, w := range b.routes {
		if refused && w.route.ID == "order" {
			return w
		}
		if !w.template.position || len(b.positions) > 0 {
			can = append(can, w)
			total += w.weight
		}
	}
	if total == 0 {
		return b.exhausted()
	}
	n := b.rnd.IntN(total)
	for _, w := range can {
		if n -= w.weight; n < 0 {
			return w
		}
	}
	panic("unreachable: the weights sum up to total")
}

// exhausted notes that a mix of nothing but positions has run out of them. What it returns is sent to nobody.
func (b *builder) exhausted() weighted {
	if b.err == nil {
		b.err = fmt.Errorf("mix: the fixture's positions are used up; raise fixture.positions or add a route that needs none")
	}
	return weighted{route: b.routes[0].route, template: templates[0]}
}

// impatient makes the client of o hang up early, for the phase's share of operations.
func (b *builder) impatient(o *history.Operation) {
	if b.Impatient > 0 && b.rnd.Float64() < b.Impatient {
		o.GiveUpNS = 1 + b.rnd.Int64N(int64(b.GiveUp))
	}
}
