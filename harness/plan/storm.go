package plan

// stormShape uses keys (of which a few are hot), duplicates (operations of each other key, one after another), hot, refused, impatient, give_up,
// manners, retry, mix; open loop: rate, for, arrivals, and the number of keys follows. One operation in keylessEvery carries no key.
var stormShape = Shape{
	Name: "storm", Open: true, manners: true, build: buildStorm,
	Does: "clients that hang up, back off and retry with the same key; a share of operations goes to a few hot keys",
}

const (
	maxHotKeys   = 4
	maxHot       = 0.95 // bounds how much a hot share below 1 can multiply the operations of a closed loop
	keylessEvery = 25
)

func buildStorm(b *builder) {
	s := newStream(b)
	heat := b.heat(s)
	hot := make([]prepared, heat.keys)
	for i := range hot {
		hot[i] = b.fresh(false)
	}
	refused := newShare(b.Refused, heat.cold/b.Duplicates)
	isHot := shareOf(heat.hot, heat.hot+heat.cold)
	var cold prepared
	for i, nHot, nCold := 1, 0, 0; isHot.total > 0 && !b.done(); i++ {
		if i%keylessEvery == 0 && !b.foreign() { // there, no row could be told to be its
			s.send(b.keyless())
		}
		if isHot.next(b.rnd) {
			s.send(hot[b.hotIndex(nHot, len(hot))])
			nHot++
			continue
		}
		if nCold%b.Duplicates == 0 {
			cold = b.fresh(refused.next(b.rnd))
		}
		s.send(cold)
		nCold++
	}
}

// hotIndex gives every hot key its first operation, and then draws.
func (b *builder) hotIndex(n, keys int) int {
	if n < keys {
		return n
	}
	return b.rnd.IntN(keys)
}

// heat is how a storm divides its operations with a key.
type heat struct{ hot, cold, keys int }

// heat makes the hot share of operations hot and, in a closed loop, the number of distinct keys exactly what the spec says.
func (b *builder) heat(s *stream) (h heat) {
	switch {
	case b.Loop == Open:
		h.hot = round(b.Hot * float64(s.arrivals.n))
		h.cold = s.arrivals.n - h.hot
		h.keys = min(maxHotKeys, h.hot)
	case b.Hot == 0:
		h.cold = b.Keys * b.Duplicates
	case b.Hot == 1 || b.Keys == 1:
		h.hot, h.keys = b.Keys*b.Duplicates, b.Keys
	default:
		share := min(b.Hot, maxHot)
		h.keys = min(maxHotKeys, b.Keys-1)
		h.cold = (b.Keys - h.keys) * b.Duplicates
		h.hot = max(h.keys, round(float64(h.cold)*share/(1-share)))
	}
	return h
}

// keyless is an operation that must be passed through. It is never retried: without a key nobody could tell whether it ran twice.
func (b *builder) keyless() prepared {
	w := b.routes[0]
	for _, r := range b.routes {
		if !r.template.position {
			w = r
			break
		}
	}
	if w.template.position && len(b.positions) == 0 {
		w = b.exhausted()
	}
	o := b.ask(w)
	o.Retry = ""
	return o
}
