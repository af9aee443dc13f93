package main

import (
	"testing"

	"github.com/idemstorm/idemstorm/scenarios"
)

func TestEveryServerOfASoakIsOneThatAScenarioFileCouldAskFor(t *testing.T) {
	suite, err := scenarios.Suite("full")
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range rightServers(suite) {
		if err := trial.Scenario.Subject.Validate(); err != nil {
			t.Errorf("%s: %v", trial.Scenario.Name, err)
		}
	}
}
