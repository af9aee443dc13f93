package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

func TestErrorsNameTheField(t *testing.T) {
	good := Phase{Name: "p", Shape: "race", Keys: 1}
	for want, change := range map[string]func(*Phase){
		"phases[1].hot: 1.4 is not between 0 and 1":                      func(p *Phase) { p.Hot = 1.4 },
		"phases[1].shape: \"x\" is none of race":                         func(p *Phase) { p.Shape = "x" },
		"phases[1].name: \"p\" is already taken":                         func(p *Phase) { p.Name = "p" },
		"phases[1].name: \"\" is not a name":                             func(p *Phase) { p.Name = "" },
		"phases[1].keys: shape race needs at least 1":                    func(p *Phase) { p.Keys = 0 },
		"phases[1].loop: shape race is for a closed loop only":           func(p *Phase) { p.Loop = Open },
		"phases[1].rate: an open loop needs one":                         func(p *Phase) { p.Shape, p.Loop = "storm", Open },
		"phases[1].retry: \"none\" is not among the retries":             func(p *Phase) { p.Retry = "none" },
		"phases[1].mix.pay: no request is known for it":                  func(p *Phase) { p.Mix = map[string]int{"pay": 1} },
		"phases[1].give_up: it is missing, and impatient is not 0":       func(p *Phase) { p.Impatient = 0.5 },
		"phases[1].give_up: 6s is not between 0s and 5s":                 func(p *Phase) { p.GiveUp = Duration(6 * time.Second) },
		"phases[1].keys: the phase comes to 40000000 operations":         func(p *Phase) { p.Keys, p.Duplicates = 4000, 10000 },
		"phases[1].duplicates: 20000 at one instant are more than 10000": func(p *Phase) { p.Duplicates = 20000 },
		"phases[1].manners.cut_body: -1 is not between 0 and 1":          func(p *Phase) { p.Manners.CutBody = -1 },
		"phases[1].manners.slow_body.over: it is missing":                func(p *Phase) { p.Manners.SlowBody.Share = 0.1 },
		"phases[1].manners.slow_body.over: 6s is not between":            func(p *Phase) { p.Manners.SlowBody.Over = Duration(6 * time.Second) },
		"phases[1].manners.twin: it and the other shares come to":        func(p *Phase) { p.Manners.Twin, p.Manners.CutBody = 0.6, 0.6 },
		"phases[1].manners.cut_body: the clients of shape spellings":     func(p *Phase) { p.Shape, p.Manners.Twin = "spellings", 0.5 },
	} {
		bad := good
		bad.Name = "q"
		change(&bad)
		err := Spec{Phases: []Phase{good, bad}}.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestDurationsNeedAUnitAndErrorsSayWhere(t *testing.T) {
	var s Spec
	if err := yaml.Unmarshal([]byte("phases:\n  - name: p\n    for: 250ms\n    bound: \"2s\"\n"), &s); err != nil {
		t.Fatal(err)
	}
	if s.Phases[0].For.Std() != 250*time.Millisecond || s.Phases[0].Bound.Std() != 2*time.Second {
		t.Errorf("read %v and %v", s.Phases[0].For, s.Phases[0].Bound)
	}
	err := yaml.Unmarshal([]byte("phases:\n  - name: p\n    for: 250\n"), &s)
	if err == nil || !strings.Contains(err.Error(), "[3:10]") || !strings.Contains(err.Error(), "is not a duration such as 250ms") {
		t.Errorf("error is %v", err)
	}
	b, _ := json.Marshal(Duration(time.Second))
	var d Duration
	if err := json.Unmarshal(b, &d); err != nil || d != Duration(time.Second) {
		t.Errorf("%s became %v, %v", b, d, err)
	}
}

func TestWaitsStayWithinThePolicy(t *testing.T) {
	r := Retry{Attempts: 9, Backoff: Exponential, Base: Duration(10 * time.Millisecond), Cap: Duration(100 * time.Millisecond), RetryAfter: true}
	for n := 1; n < 80; n++ {
		ceiling := min(100*time.Millisecond, 10*time.Millisecond<<min(n-1, 10))
		w := r.Wait(1, 7, n, 0)
		if w < 0 || w > ceiling || w != r.Wait(1, 7, n, 0) {
			t.Errorf("attempt %d waits %v, bound %v", n, w, ceiling)
		}
	}
	if w := r.Wait(1, 7, 1, 50*time.Millisecond); w != 50*time.Millisecond {
		t.Errorf("Retry-After of 50ms waits %v", w)
	}
	if w := r.Wait(1, 7, 1, time.Minute); w != 100*time.Millisecond {
		t.Errorf("Retry-After past the cap waits %v", w)
	}
	r.RetryAfter = false
	if w := r.Wait(1, 7, 1, time.Minute); w > 10*time.Millisecond {
		t.Errorf("an ignored Retry-After waits %v", w)
	}
}

func TestALoadOverrideChangesOpenPhasesOnly(t *testing.T) {
	second := Duration(time.Second)
	s := Spec{Phases: []Phase{{Loop: Open, Rate: 5, For: second, Bound: 3 * second}, {Loop: Closed, Bound: second}, {Loop: Open, For: second}}}
	got := s.WithLoad(10*time.Second, 7).Phases
	if got[0].Rate != 7 || got[0].For != 10*second || got[0].Bound != 12*second || got[1].Bound != second || got[2].Bound != 0 {
		t.Errorf("%+v", got)
	}
	if s.Phases[0].Rate != 5 {
		t.Error("the spec itself was changed")
	}
}

func TestASpecSurvivesYAML(t *testing.T) {
	want := Spec{Phases: []Phase{{Name: "p", Shape: "race", Bound: Duration(90 * time.Second), Manners: Manners{CutBody: 0.1, SlowBody: SlowBody{0.2, 3}}}}, Retries: map[string]Retry{"r": {Attempts: 1, Base: 5}}}
	b, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Spec
	if err := yaml.UnmarshalWithOptions(b, &got, yaml.Strict()); err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if got.Phases[0].Bound != want.Phases[0].Bound || got.Phases[0].Manners != want.Phases[0].Manners || got.Retries["r"] != want.Retries["r"] {
		t.Errorf("%+v", got)
	}
}
