package pile

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever their number, values are found where they were put, and in order once they are sorted; those that were in order have not moved.
func TestAPileHoldsWhatWasAddedAndSortsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 7, Block - 1, Block, Block + 1, 3 * Block}).Draw(t, "n")
		ascending := rapid.Bool().Draw(t, "ascending")
		var p Of[int64]
		var want []int64
		for i := range n {
			v := int64(i)
			if !ascending {
				v = int64(i * 7919 % 1000)
			}
			p.Add(v)
			want = append(want, v)
		}
		if n > 0 {
			before := p.At(n - 1)
			if p.Sort(cmp.Compare[int64]); ascending && before != p.At(n-1) {
				t.Fatal("what is in order was moved")
			}
		}
		slices.Sort(want)
		var got []int64
		for i := range p.Len() {
			got = append(got, *p.At(i))
		}
		if flat := p.Flat(); !slices.Equal(flat, got) || flat == nil || p.Len() != 0 {
			t.Fatalf("%d values in one piece, of %d; %d left", len(flat), len(got), p.Len())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d values, wanted %d, in order: %t", len(got), len(want), slices.IsSorted(got))
		}
	})
}
