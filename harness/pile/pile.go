// Package pile holds many values whose number is not known before.
//
// It stands below everything that reads long files into memory. A slice that grows by appending copies everything many times, and holds twice as much
// as it needs when it is largest; a pile does neither.
package pile

import "slices"

// Of holds values in blocks that stay where they are once there are two. The zero value is empty and ready.
type Of[T any] struct{ blocks [][]T }

// Block is how many values stay together.
const Block = 4096

// Add puts a value last.
func (p *Of[T]) Add(v T) { *p.Next() = v }

// Next is room for one value more, which is zero until it is set. It may move while there is no second block.
func (p *Of[T]) Next() *T {
	last := len(p.blocks) - 1
	switch {
	case last < 0:
		p.blocks, last = append(p.blocks, nil), 0
	case len(p.blocks[last]) == Block:
		p.blocks = append(p.blocks, make([]T, 0, Block))
		last++
	}
	p.blocks[last] = append(p.blocks[last], *new(T))
	return &p.blocks[last][len(p.blocks[last])-1]
}

// Len is the number of values.
func (p *Of[T]) Len() int {
	last := len(p.blocks) - 1
	if last < 0 {
		return 0
	}
	return last*Block + len(p.blocks[last])
}

// At is value i, from 0, where it lies.
func (p *Of[T]) At(i int) *T { return &p.blocks[i/Block][i%Block] }

// Sort orders the values, equal ones as they were, and moves none if they are in order.
func (p *Of[T]) Sort(compare func(a, b T) int) {
	for i := 1; i < p.Len(); i++ {
		if compare(*p.At(i - 1), *p.At(i)) > 0 {
			all := slices.Concat(p.blocks...)
			slices.SortStableFunc(all, compare)
			p.blocks = slices.Collect(slices.Chunk(all, Block))
			return
		}
	}
}

// Flat is everything in one piece, in order and never nil. It empties the pile.
func (p *Of[T]) Flat() []T {
	all := make([]T, 0, p.Len())
	for i := range p.blocks {
		all = append(all, p.blocks[i]...)
		p.blocks[i] = nil // the collector may have it
	}
	p.blocks = nil
	return all
}
