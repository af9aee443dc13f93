package plan

import (
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/history"
)

func TestAgainSendsTheSameRequestsOnce(t *testing.T) {
	first := Phase{Name: "first", Shape: "race", Keys: 7, Duplicates: 3, Mix: map[string]int{"order": 1, "close": 1}}
	again := Phase{Name: "again", Shape: "again", Of: "first", Duplicates: 2, Clients: 3, Replica: 2}
	third := Phase{Name: "third", Shape: "again", Of: "again", Keys: 4}
	byPhase := map[string][]history.Operation{}
	original := map[string]history.Operation{}
	for _, o := range build(t, input(1, first, again, third)) {
		byPhase[o.Phase] = append(byPhase[o.Phase], o)
		if _, known := original[o.Key]; !known {
			original[o.Key] = o
		}
		if was := original[o.Key]; o.Request != was.Request || string(o.Body) != string(was.Body) || o.Path != was.Path || o.User != was.User {
			t.Errorf("operation %d asks for something else than operation %d", o.ID, was.ID)
		}
	}
	if got := len(byPhase["again"]); got != 7*2 {
		t.Errorf("7 keys twice are %d operations", got)
	}
	if got := len(byPhase["third"]); got != 4 {
		t.Errorf("4 keys of those are %d operations", got)
	}
	for i, o := range byPhase["again"] {
		if o.Replica != 2 || o.Group == 0 || o.Group != byPhase["again"][i/2*2].Group {
			t.Errorf("%+v", o)
		}
	}
}

func TestAgainNeedsAnEarlierPhase(t *testing.T) {
	again := Phase{Name: "again", Shape: "again", Of: "first"}
	first := Phase{Name: "first", Shape: "race", Keys: 1}
	if err := (Spec{Phases: []Phase{again, first}}).Validate(); err == nil || !strings.HasPrefix(err.Error(), "phases[0].of: ") {
		t.Errorf("got %v", err)
	}
}

func TestServiceCallsHaveNoUser(t *testing.T) {
	p := Phase{Name: "p", Shape: "race", Keys: 3, Service: true, Mix: map[string]int{"waitlist": 1}}
	for _, o := range build(t, input(1, p)) {
		if o.User != history.ServiceUser || o.Key == "" {
			t.Errorf("%+v", o)
		}
	}
}
