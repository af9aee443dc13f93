package zoo

import (
	"reflect"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

func TestVariantsAreNamedOnceAndToldWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range All {
		if v.Name == "" || v.Story == "" || v.Invariant == "" || v.Scenario == "" || v.Parts == nil {
			t.Errorf("variant %+v leaves a field empty", v.Name)
		}
		if seen[v.Name] || v.Name != strings.ToLower(v.Name) {
			t.Errorf("variant %q is named twice, or not in lower case", v.Name)
		}
		seen[v.Name] = true
	}
}

func TestVariantReplacesExactlyOnePart(t *testing.T) {
	for _, v := range All {
		reference := reflect.ValueOf(idempotency.Reference(nil, nil, 0))
		variant := reflect.ValueOf(v.Parts(idempotency.Reference(nil, nil, 0)))
		var replaced []string
		for i := range reference.NumField() {
			if reference.Field(i).Elem().Type() != variant.Field(i).Elem().Type() {
				replaced = append(replaced, reference.Type().Field(i).Name)
			}
		}
		if len(replaced) != 1 {
			t.Errorf("variant %q replaces parts %v, want one", v.Name, replaced)
		}
	}
}

func TestFindNamesWhatThereIs(t *testing.T) {
	if v, err := Find("no-body-hash"); err != nil || v.Name != "no-body-hash" {
		t.Fatalf("Find: %v, %v", v.Name, err)
	}
	if _, err := Find("nonesuch"); err == nil || !strings.Contains(err.Error(), "no-body-hash") {
		t.Fatalf("Find of an unknown name: %v, want the list of names", err)
	}
}
