package idemtest

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/reports"
)

// tell fails the test with what was violated, or says in its log what held.
func tell(t testing.TB, dir string, run verdict.Run) {
	t.Helper()
	if run.Verdict.Exit() == verdict.ExitHeld {
		t.Logf("idemtest: %s (seed %d, %d requests, %d of them unanswered)", run.Verdict.Sentence(), run.Seed, run.Counts.Attempts, run.Counts.Lost)
		return
	}
	var b strings.Builder
	if err := reports.WriteCounterexamples(&b, reports.Terminal{}, run); err != nil {
		t.Fatalf("idemtest: %v", err)
	}
	t.Errorf("idemtest: %s\nThe whole report: %s", b.String(), kept(filepath.Join(dir, run.Scenario, reports.HTMLFile)))
}

// unjudged says in the test's log what no scenario has judged, by reason, with what to add.
func unjudged(t testing.TB, runs []verdict.Run) {
	t.Helper()
	judged, why := map[string]bool{}, map[string]string{}
	var ids []string
	for _, run := range runs {
		for _, f := range run.Verdict.Findings {
			judged[f.Invariant] = judged[f.Invariant] || f.Status != verdict.NotJudged
			if why[f.Invariant] == "" {
				ids, why[f.Invariant] = append(ids, f.Invariant), f.Why
			}
		}
	}
	by := map[string][]string{}
	for _, id := range ids {
		if !judged[id] {
			reason := goFields.Replace(why[id])
			by[reason] = append(by[reason], id)
		}
	}
	var lines strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(&lines, "\n  %s: %s", strings.Join(by[reason], ", "), reason)
	}
	if lines.Len() > 0 {
		t.Logf("idemtest: not judged, and what to add:%s", lines.String())
	}
}

// kept says where a report is, or how it is kept.
func kept(path string) string {
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		return path
	}
	return "go test -artifacts keeps it, as " + filepath.Join("_artifacts", "…", filepath.Base(filepath.Dir(path)), filepath.Base(path)) + " in -outputdir"
}
