package plan

// trafficShape uses keys, duplicates (operations of every repeatEvery-th key, spread over time), refused, impatient, give_up, manners, retry, mix; open
// loop: rate, for, arrivals, and the number of keys follows.
var trafficShape = Shape{
	Name: "traffic", Open: true, manners: true, build: buildTraffic,
	Does: "a steady mixture of routes, mostly under keys of their own, some of which come again later",
}

const (
	repeatEvery = 5
	maxPending  = 64 // keys that wait for their repetition: bounds the plan's memory
)

func buildTraffic(b *builder) {
	s := newStream(b)
	keys, total := b.Keys, -1
	if b.Loop == Open {
		keys, total = s.arrivals.n, s.arrivals.n
	}
	refused := newShare(b.Refused, keys)
	var again pending
	for n, key := 0, 0; n != total && !b.done(); n++ {
		repeat := again.ops != nil && (key == keys || b.rnd.IntN(maxPending) < len(again.ops))
		switch {
		case repeat:
			s.send(again.take(b.rnd.IntN(len(again.ops))))
		case key == keys:
			return
		default:
			o := b.fresh(refused.next(b.rnd))
			key++
			s.send(o)
			again.add(o, b.repeats(key))
		}
	}
}

// repeats is how often the n-th key comes again.
func (b *builder) repeats(n int) int {
	if n%repeatEvery != 0 {
		return 0
	}
	return b.Duplicates - 1
}

// pending holds operations that come again.
type pending struct {
	ops   []prepared
	times []int
}

func (p *pending) add(o prepared, times int) {
	if times > 0 {
		p.ops, p.times = append(p.ops, o), append(p.times, times)
	}
}

func (p *pending) take(i int) prepared {
	o := p.ops[i]
	if p.times[i]--; p.times[i] > 0 {
		return o
	}
	last := len(p.ops) - 1
	p.ops[i], p.times[i] = p.ops[last], p.times[last]
	p.ops, p.times = p.ops[:last], p.times[:last]
	if last == 0 {
		p.ops = nil
	}
	return o
}
