package schedule

import (
	"slices"
	"strings"
)

// Footprint is what a step may touch. The zero value touches nothing that another session could see.
type Footprint struct {
	All    bool     // not understood: it may touch anything
	Reads  []string // tables, sorted
	Writes []string // tables and sequences, sorted; locks taken for a later write count as writes
}

// Reading is the footprint of a step that reads these tables, in any order.
func Reading(tables ...string) Footprint { return Footprint{Reads: merge(tables, nil)} }

// Writing is the footprint of a step that writes these tables, in any order.
func Writing(tables ...string) Footprint { return Footprint{Writes: merge(tables, nil)} }

// Local tells whether a step touches nothing that others could see or wait for.
func (f Footprint) Local() bool { return !f.All && len(f.Reads) == 0 && len(f.Writes) == 0 }

// ReadOnly tells whether a step leaves nothing behind.
func (f Footprint) ReadOnly() bool { return !f.All && len(f.Writes) == 0 }

// Union is what two steps touch together.
func (f Footprint) Union(g Footprint) Footprint {
	return Footprint{All: f.All || g.All, Reads: merge(f.Reads, g.Reads), Writes: merge(f.Writes, g.Writes)}
}

// Independent tells whether two steps of different sessions commute: from any state both orders lead to the same state and give the
// same answers, and neither makes the other wait or go on. Tables decide, not rows: two statements on one table
// commute only if both read it.
func Independent(f, g Footprint) bool {
	switch {
	case f.Local() || g.Local():
		return true
	case f.All || g.All:
		return false
	}
	return disjoint(f.Writes, g.Writes) && disjoint(f.Writes, g.Reads) && disjoint(f.Reads, g.Writes)
}

// String lists the tables, written ones marked.
func (f Footprint) String() string {
	if f.All {
		return "anything"
	}
	words := slices.Clone(f.Reads)
	for _, table := range f.Writes {
		words = append(words, table+"*")
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}

func merge(a, b []string) []string {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

func disjoint(a, b []string) bool {
	return !slices.ContainsFunc(a, func(table string) bool { return slices.Contains(b, table) })
}
