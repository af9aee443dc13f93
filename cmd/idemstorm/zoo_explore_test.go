package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/target/zoo"
)

// explores runs `zoo explore` on this test's own program.
func explores(t *testing.T, f zooExploreFlags, names ...string) {
	t.Helper()
	f.exe, f.parallel = program(t, t.TempDir()), 3
	began := time.Now()
	var shown bytes.Buffer
	err := runZooExplore(t.Context(), &shown, f, names)
	t.Logf("%v\n%s", time.Since(began).Round(time.Second), shown.String())
	if err != nil {
		t.Error(err)
	}
}

// Luck has no part in it: what is an order of statements, or a failure at one, is found, and found again as it was.
func TestExplorationConvictsEachVariantTwiceByTheSameCounterexample(t *testing.T) {
	explores(t, zooExploreFlags{runs: 2})
}

// Variants of every case that is quickly explored to the end; `zoo explore --check-reduction` compares them all.
func TestReductionHidesNoOutcomeOfAVariant(t *testing.T) {
	explores(t, zooExploreFlags{runs: 1, checkReduction: true},
		"insert-where-not-exists", "in-process-map", "get-run-store", "missing-record-is-fresh", "retire-by-key", "hash-in-lookup-key",
		"cleanup-removes-in-flight", "erasure-spares-in-flight")
}

func TestExplorationsAreWhatTheCommandTakes(t *testing.T) {
	for _, v := range zoo.All {
		e := v.Explore
		if e == nil {
			continue
		}
		if err := (zooExploreFlags{}).options(v).Validate(); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
		if (e.Case == "") == (len(e.Faults) == 0) {
			t.Errorf("%s: either a case is explored, or faults strike", v.Name)
		}
		if e.Invariant == v.Invariant {
			t.Errorf("%s repeats its own invariant", v.Name)
		}
	}
}

func TestAVariantThatNoOrderShowsIsSentToItsScenario(t *testing.T) {
	_, err := chooseExplorable([]string{"replay-past-gate"})
	if err == nil || !strings.Contains(err.Error(), "idemstorm zoo run replay-past-gate") {
		t.Errorf("chooseExplorable: %v", err)
	}
	all, err := chooseExplorable(nil)
	if err != nil || len(all) < 30 {
		t.Errorf("%d variants, %v", len(all), err)
	}
}
