package harness

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/verdict"
	"github.com/idemstorm/idemstorm/scenarios"
)

// LuckScenario is the scenario that measures luck.
const LuckScenario = "two-clients"

// Luck is how often two uncontrolled clients, and nothing else, make a variant break something.
type Luck struct {
	Pairs int64 // keys looked at, each sent once by two clients at one moment
	Hits  int64 // keys that were executed more than once
	Other int64 // counterexamples to anything else
}

// Luck measures a variant's luck rate: what an ordinary concurrent test would see.
func (t Trials) Luck(ctx context.Context, lab *Lab, variant string, seed uint64) (Luck, error) {
	scenario, err := scenarios.Find(LuckScenario)
	if err != nil {
		return Luck{}, err
	}
	done, err := t.hold(ctx, lab, Trial{Variant: variant, Scenario: scenario, Seed: seed})
	if err != nil {
		return Luck{}, err
	}
	var luck Luck
	for _, f := range done.Run.Verdict.Findings {
		switch {
		case f.Invariant == "at-most-once":
			luck.Pairs, luck.Hits = f.Looked, f.Count
		case f.Status == verdict.Violated:
			luck.Other += f.Count
		}
	}
	return luck, nil
}
