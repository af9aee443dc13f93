package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/target/idempotency"
)

func TestTheStrategiesPageTellsOfEach(t *testing.T) {
	page, err := os.ReadFile("../../docs/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range idempotency.Strategies {
		if line := fmt.Sprintf("| %s | %s | %s |\n", s.Name, s.Story, cmp.Or(s.Promise, "–")); !strings.Contains(string(page), line) {
			t.Errorf("docs/strategies.md lacks: %s", line)
		}
	}
}

// The harness knows the bundled server's strategies by name and by what they promise; it shares no code with them.
func TestTheHarnessKnowsEveryClaimStrategy(t *testing.T) {
	if len(contract.Strategies) != len(idempotency.Strategies) {
		t.Fatalf("the harness knows %v", contract.StrategyNames())
	}
	for i, served := range idempotency.Strategies {
		known := contract.Strategies[i]
		if known.Name != served.Name || known.Redis != served.Redis {
			t.Errorf("served %s (redis %v), known %s (redis %v)", served.Name, served.Redis, known.Name, known.Redis)
		}
		if (known.Claims != contract.Claims{}) != (served.Promise != "") {
			t.Errorf("%s: the harness expects %+v, the strategy says %q", served.Name, known.Claims, served.Promise)
		}
	}
}
