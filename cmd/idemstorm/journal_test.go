package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemstorm/idemstorm/harness"
	"github.com/idemstorm/idemstorm/scenarios"
)

func trialOf(variant string, seed uint64) harness.Trial {
	return harness.Trial{Variant: variant, Scenario: scenarios.Scenario{Name: "race"}, Seed: seed}
}

// A measurement that was cut short by a crash is not there; all before it are.
func TestAJournalGoesOnAfterItsLastWholeLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		if err := j.trial(harness.Trialled{Trial: trialOf("a", seed), Right: true, FirstNS: int64(time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-5], 0o644); err != nil {
		t.Fatal(err)
	}

	if j, err = openJournal(path); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	all := []harness.Trial{trialOf("a", 0), trialOf("a", 1), trialOf("a", 2), trialOf("b", 0)}
	if got := j.missing(all); len(got) != 2 || got[0].Seed != 2 || got[1].Variant != "b" {
		t.Errorf("missing %v", got)
	}
	if err := j.trial(harness.Trialled{Trial: trialOf("a", 2)}); err != nil {
		t.Fatal(err)
	}
	if got := j.of("a", all); len(got) != 3 || !got[0].Caught || got[2].Caught || got[0].Detection != time.Second {
		t.Errorf("entries %+v", got)
	}
	if data, err = os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != 3 {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestALuckRateIsMeasuredOnce(t *testing.T) {
	j, err := openJournal("")
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for range 2 {
		luck, err := j.luck("a", func() (harness.Luck, error) { measured++; return harness.Luck{Pairs: 10, Hits: 7}, nil })
		if err != nil || luck.Hits != 7 {
			t.Errorf("%+v %v", luck, err)
		}
	}
	if measured != 1 {
		t.Errorf("measured %d times", measured)
	}
}

func TestAFileThatIsNoJournalIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(path, []byte("milk\nbread\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openJournal(path); err == nil || !strings.Contains(err.Error(), "line 1 is no measurement") {
		t.Errorf("%v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "milk\nbread\n" {
		t.Errorf("the file was changed: %q", data)
	}
}
