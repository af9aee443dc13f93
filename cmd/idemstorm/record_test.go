package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/target/zoo"
)

// The track record is generated; whoever adds or changes a variant generates it again.
func TestTheTrackRecordIsNotStale(t *testing.T) {
	data, err := os.ReadFile("../../docs/track-record.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, v := range zoo.All {
		line := fmt.Sprintf("| %s | %s | %s | %s |", v.Name, v.Class, v.Invariant, v.Scenario)
		if !strings.Contains(page, line) {
			t.Errorf("docs/track-record.md lacks %q; run: idemstorm zoo record --runs 20 > docs/track-record.md", line)
		}
	}
	if got := strings.Count(page, "\n- **"); got != len(zoo.All) {
		t.Errorf("it tells of %d variants, and there are %d", got, len(zoo.All))
	}
}
