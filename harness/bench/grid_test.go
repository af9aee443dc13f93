package bench

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAGridMeasuresTheReferenceTwiceAndTheBaselinesOnce(t *testing.T) {
	g := Grid{Strategies: []string{"insert-first", "redis"}, Clients: []int{1, 8}, Duplicates: []int{2, 8}, Handler: []time.Duration{0}, SyncCommit: []string{"on"}, Floor: true}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, c := range g.Cells() {
		count[c.Series]++
	}
	want := map[string]int{"insert-first": 4, "insert-first-again": 4, "redis": 4, Unprotected: 2, Floor: 2}
	for series, n := range want {
		if count[series] != n {
			t.Errorf("%s: %d cells, want %d", series, count[series], n)
		}
	}
	if len(count) != len(want) {
		t.Errorf("series %v", count)
	}
}

func TestBothGridsOfTheCommandCanBeMeasured(t *testing.T) {
	for name, g := range map[string]Grid{"quick": Quick(), "full": Full()} {
		if err := g.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAGridThatCannotBeMeantNamesItsFlag(t *testing.T) {
	for flag, spoil := range map[string]func(*Grid){
		"--strategies: nothing is none of": func(g *Grid) { g.Strategies = []string{"nothing"} },
		"--strategies: name at least one":  func(g *Grid) { g.Strategies = []string{} },
		"--strategies: redis is named":     func(g *Grid) { g.Strategies = []string{"redis", "redis"} },
		"--clients: 0 is not between":      func(g *Grid) { g.Clients = []int{0} },
		"--duplicates: 65 is not between":  func(g *Grid) { g.Duplicates = []int{65} },
		"--handler: -1s is not between":    func(g *Grid) { g.Handler = []time.Duration{-time.Second} },
		"--sync-commit: maybe is neither":  func(g *Grid) { g.SyncCommit = []string{"maybe"} },
		"--clients and --duplicates: 4096": func(g *Grid) { g.Clients, g.Duplicates = []int{512}, []int{8} },
	} {
		g := Quick()
		spoil(&g)
		if err := g.Validate(); err == nil || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("%v, want %q", err, flag)
		}
	}
}

func TestEveryRunHasAnOrderOfItsOwnThatTheSeedFixes(t *testing.T) {
	first, second := Order(20, 7, 1), Order(20, 7, 2)
	if slices.Equal(first, second) {
		t.Error("two runs have one order")
	}
	if !slices.Equal(first, Order(20, 7, 1)) {
		t.Error("the same seed gave another order")
	}
	sorted := slices.Sorted(slices.Values(first))
	for i, v := range sorted {
		if v != i {
			t.Fatalf("not every cell once: %v", first)
		}
	}
}
