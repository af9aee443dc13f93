package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

// shop is somebody else's endpoint, which can be asked in every way.
type shop struct {
	without   Kind
	malformed string // the same for all keys; "" for one each
}

func (shop) Key(b [16]byte) string  { return fmt.Sprintf("%x", b) }
func (shop) Line(key string) string { return `"` + key + `"` }
func (s shop) Malformed(key string) string {
	if s.malformed != "" {
		return s.malformed
	}
	return "none-" + key
}
func (s shop) Has(k Kind) bool { return k != s.without }
func (shop) Ask(k Kind, key string) Asking {
	return Asking{Path: "/orders", Body: []byte(string(k) + " " + key), Token: key[:12]}
}

func foreignPlan(t *testing.T, phase Phase, unstated ...contract.Situation) *Plan {
	t.Helper()
	return foreignPlanOf(t, shop{}, phase, unstated...)
}

func foreignPlanOf(t *testing.T, requests shop, phase Phase, unstated ...contract.Situation) *Plan {
	t.Helper()
	profile, _ := contract.FindProfile("ietf")
	c := contract.Promised{Method: "POST", Path: "/orders", Profile: profile}.Contract()
	for _, s := range unstated {
		c.Unstated[s.Invariant()] = "not stated"
	}
	phase.Name, phase.Mix = "p", map[string]int{contract.ServiceRoute: 1}
	p, err := Build(Input{
		Spec: Spec{Phases: []Phase{phase}}, Seed: 7, Contract: c, Accounts: []Account{{ID: 1}, {ID: 2}}, Requests: requests,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPlanForSomebodyElsesServerRepeats(t *testing.T) {
	for _, s := range Shapes {
		if s.bundled || s.follows {
			continue
		}
		phase := Phase{Shape: s.Name, Keys: 5, Duplicates: 3, Clients: 2}
		if a, b := foreignPlan(t, phase), foreignPlan(t, phase); a.Digest() != b.Digest() || a.Total() == 0 {
			t.Errorf("%s: %s and %s, %d operations", s.Name, a.Digest(), b.Digest(), a.Total())
		}
	}
}

// Every situation that is promised is brought about under keys of its own, and none that is not.
func TestEachSituationHasKeysOfItsOwn(t *testing.T) {
	p := foreignPlan(t, Phase{Shape: "situations", Keys: 3, Clients: 4}, contract.AfterFailure)
	keys := map[string]string{}
	probed := map[string]int{}
	for o := range p.Operations() {
		situation := strings.TrimPrefix(strings.TrimPrefix(o.Spelling, "situation: "), "first: ")
		if other, used := keys[o.Key]; o.Key != "" && used && other != situation {
			t.Errorf("key %s is of %s and of %s", o.Key, other, situation)
		}
		keys[o.Key] = situation
		if strings.HasPrefix(o.Spelling, "situation: ") {
			probed[situation]++
		}
		if !o.Once || o.Token == "" {
			t.Errorf("operation %d: once %t, token %q", o.ID, o.Once, o.Token)
		}
	}
	for _, s := range contract.Situations {
		_, can := probes[s]
		if want := can && s != contract.AfterFailure; (probed[string(s)] > 0) != want {
			t.Errorf("%s was probed %d times", s, probed[string(s)])
		}
	}
}

// A service that takes the line for a key must not meet it twice: the second answer would be about the first request.
func TestAMalformedKeyIsSentOnce(t *testing.T) {
	for _, fixed := range []string{"", "none"} {
		sent := map[string]int{}
		for o := range foreignPlanOf(t, shop{malformed: fixed}, Phase{Shape: "situations", Keys: 3, Clients: 4}).Operations() {
			if o.Spelling == contract.KeyMalformed.Probe() {
				sent[o.Keys[0]]++
			}
		}
		want := 3
		if fixed != "" {
			want = 1
		}
		if len(sent) != want {
			t.Errorf("lines sent with %q: %v", fixed, sent)
		}
		for line, n := range sent {
			if n > 1 {
				t.Errorf("%q was sent %d times", line, n)
			}
		}
	}
}

func TestRivalsAreTwoRequestsUnderOneKeyAtOneInstant(t *testing.T) {
	p := foreignPlan(t, Phase{Shape: "rivals", Keys: 2, Duplicates: 4})
	groups := map[int64][]history.Operation{}
	for o := range p.Operations() {
		groups[o.Group] = append(groups[o.Group], o)
	}
	for _, crowd := range groups {
		asked := map[string]int{}
		for _, o := range crowd {
			asked[o.Request]++
			if o.Key != crowd[0].Key || o.Group == 0 {
				t.Errorf("operation %d is not of one key and one instant", o.ID)
			}
		}
		if len(crowd) != 4 || len(asked) != 2 {
			t.Errorf("%d requests, of them different %d", len(crowd), len(asked))
		}
	}
}

func TestShapesOfTheBundledServerAreRefusedForAnother(t *testing.T) {
	spec := Spec{Phases: []Phase{{Name: "p", Shape: "spellings", Keys: 1, Mix: map[string]int{contract.ServiceRoute: 1}}}}
	in := Input{Spec: spec, Contract: contract.Service{Method: "POST", Path: "/p"}.Contract(), Accounts: []Account{{ID: 1}}, Requests: shop{}}
	if _, err := Build(in); err == nil || !strings.Contains(err.Error(), "of the bundled server") {
		t.Errorf("spellings: %v", err)
	}
	in.Spec.Phases[0].Shape, in.Requests = "rivals", shop{without: Other}
	if _, err := Build(in); err == nil || !strings.Contains(err.Error(), "other_body") {
		t.Errorf("rivals without another body: %v", err)
	}
	if !slices.ContainsFunc(Shapes, func(s Shape) bool { return s.Foreign }) {
		t.Error("no shape is of somebody else's server")
	}
}
