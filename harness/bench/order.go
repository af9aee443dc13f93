package bench

import "math/rand/v2"

// Order is the order in which a run measures its cells: another one in every run, so that what drifts over time (caches, a busy neighbour, a
// disk that fills) strikes every cell alike. It follows from the seed and the run's number alone.
func Order(cells int, seed uint64, run int) []int {
	return rand.New(rand.NewPCG(seed, uint64(run))).Perm(cells)
}
