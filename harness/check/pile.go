package check

import "slices"

// pile holds values whose number is not known before, in blocks that stay where they are once there are two. A slice that grows by appending copies
// everything many times, and holds twice as much as it needs when it is largest. The zero value is empty and ready.
type pile[T any] struct{ blocks [][]T }

// pileBlock is how many values a block holds.
const pileBlock = 4096

func (p *pile[T]) add(v T) {
	last := len(p.blocks) - 1
	switch {
	case last < 0:
		p.blocks, last = append(p.blocks, nil), 0
	case len(p.blocks[last]) == pileBlock:
		p.blocks = append(p.blocks, make([]T, 0, pileBlock))
		last++
	}
	p.blocks[last] = append(p.blocks[last], v)
}

func (p *pile[T]) len() int {
	last := len(p.blocks) - 1
	if last < 0 {
		return 0
	}
	return last*pileBlock + len(p.blocks[last])
}

func (p *pile[T]) at(i int) *T { return &p.blocks[i/pileBlock][i%pileBlock] }

// sort orders the values, and moves them only if they are not in order.
func (p *pile[T]) sort(compare func(a, b T) int) {
	for i := 1; i < p.len(); i++ {
		if compare(*p.at(i - 1), *p.at(i)) > 0 {
			all := slices.Concat(p.blocks...)
			slices.SortStableFunc(all, compare)
			p.blocks = slices.Collect(slices.Chunk(all, pileBlock))
			return
		}
	}
}
