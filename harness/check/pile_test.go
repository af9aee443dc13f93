package check

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever their number, values are found where they were put, and in order once they are sorted; those that were in order have not moved.
func TestPileHoldsWhatWasAddedAndSortsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 7, pileBlock - 1, pileBlock, pileBlock + 1, 3 * pileBlock}).Draw(t, "n")
		ascending := rapid.Bool().Draw(t, "ascending")
		var p pile[int64]
		var want []int64
		for i := range n {
			v := int64(i)
			if !ascending {
				v = int64(i * 7919 % 1000)
			}
			p.add(v)
			want = append(want, v)
		}
		if n > 0 {
			before := p.at(n - 1)
			if p.sort(compare); ascending && before != p.at(n-1) {
				t.Fatal("what is in order was moved")
			}
		}
		slices.Sort(want)
		var got []int64
		for i := range p.len() {
			got = append(got, *p.at(i))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d values, wanted %d, in order: %t", len(got), len(want), slices.IsSorted(got))
		}
	})
}
