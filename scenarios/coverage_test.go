package scenarios

import (
	"testing"

	"github.com/idemstorm/idemstorm/harness/fault"
)

// A fault that no scenario uses is measured by nobody.
func TestTheFullSuiteStrikesWithEveryKindOfFault(t *testing.T) {
	suite, err := Suite("full")
	if err != nil {
		t.Fatal(err)
	}
	struck := map[string]bool{}
	for _, s := range suite {
		for _, f := range s.Faults {
			struck[f.Kind] = true
		}
	}
	for _, k := range fault.Kinds {
		if !struck[k.Name] {
			t.Errorf("no scenario strikes with %s", k.Name)
		}
	}
}
