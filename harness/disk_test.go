package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

func TestTimingTheDiskLeavesNothingBehindAndIsBounded(t *testing.T) {
	dir := t.TempDir()
	took, err := timeSyncs(dir)
	if err != nil || len(took) < 1 || len(took) > syncMost {
		t.Fatalf("%d writes were timed: %v", len(took), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := timeSyncs(filepath.Join(dir, "absent")); err == nil {
		t.Error("an absent folder was timed")
	}
}

func TestAFileIsIntactOnlyWhileItIsWhatTheRunLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileLatency)
	if err := os.WriteFile(path, []byte("figures"), 0o644); err != nil {
		t.Fatal(err)
	}
	digests, err := digestsOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := verdict.Run{Digests: digests}
	if !Intact(dir, run, FileLatency) || !Intact(dir, verdict.Run{}, FileLatency) {
		t.Error("what nobody touched, or nobody summed up, is called changed")
	}
	if err := os.WriteFile(path, []byte("Figures"), 0o644); err != nil {
		t.Fatal(err)
	}
	if Intact(dir, run, FileLatency) || Intact(dir, run, "absent") {
		t.Error("a changed file and one without a digest are called intact")
	}
}
