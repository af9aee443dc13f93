package check

import "slices"

// pile collects values whose number is not known before. A slice that grows by appending copies everything many times, and holds twice as much as it
// needs when it is largest.
type pile[T any] struct {
	full [][]T
	last []T
}

// pileBlock is how many values a pile asks memory for at once.
const pileBlock = 8192

func (p *pile[T]) add(v T) {
	if len(p.last) == cap(p.last) {
		if p.last != nil {
			p.full = append(p.full, p.last)
		}
		p.last = make([]T, 0, max(64, min(2*cap(p.last), pileBlock)))
	}
	p.last = append(p.last, v)
}

// flat is everything in one piece, in order. It empties the pile.
func (p *pile[T]) flat() []T {
	all := slices.Concat(append(p.full, p.last)...)
	p.full, p.last = nil, nil
	return all
}
