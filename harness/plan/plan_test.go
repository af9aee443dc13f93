package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
	"pgregory.net/rapid"
)

func accounts(users, positions int) (out []Account) {
	next := int64(1)
	for u := range users {
		a := Account{ID: int64(u + 1)}
		for range positions {
			a.Positions = append(a.Positions, next)
			next++
		}
		out = append(out, a)
	}
	return out
}

func input(seed uint64, phases ...Phase) Input {
	return Input{
		Seed: seed, Accounts: accounts(20, 10), Contract: contract.ADR0138(30*time.Second, 2*time.Second),
		Spec: Spec{Phases: phases, Retries: map[string]Retry{"r": {Attempts: 3, Backoff: Exponential, Base: Duration(time.Millisecond)}}},
	}
}

func build(t interface{ Fatal(...any) }, in Input) []history.Operation {
	p, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	ops := slices.Collect(p.Operations())
	if int64(len(ops)) != p.Total() {
		t.Fatal("Total disagrees with Operations")
	}
	return ops
}

func drawPhase(t *rapid.T, name string) Phase {
	unit := rapid.OneOf(rapid.SampledFrom([]float64{0, 1}), rapid.Float64Range(0, 1))
	s := rapid.SampledFrom(bundledShapes()).Draw(t, "shape")
	p := Phase{
		Name: name, Shape: s.Name, Clients: rapid.IntRange(1, 9).Draw(t, "clients"), Keys: rapid.IntRange(1, 40).Draw(t, "keys"),
		Duplicates: rapid.IntRange(1, 5).Draw(t, "duplicates"), Hot: unit.Draw(t, "hot"), Refused: unit.Draw(t, "refused"),
		Impatient: unit.Draw(t, "impatient"), GiveUp: Duration(time.Millisecond), Deadline: Duration(time.Second), Retry: "r",
		Mix: map[string]int{"order": rapid.IntRange(1, 5).Draw(t, "order")},
	}
	if s.manners {
		p.Manners = Manners{CutBody: unit.Draw(t, "cut") / 3, Twin: unit.Draw(t, "twin") / 3}
		p.Manners.SlowBody = SlowBody{Share: unit.Draw(t, "slow") / 3, Over: Duration(time.Millisecond)}
	}
	for _, id := range []string{"close", "roll", "checkout", "account"} {
		p.Mix[id] = rapid.IntRange(0, 3).Draw(t, id)
	}
	if s.Open && rapid.Bool().Draw(t, "open") {
		p.Loop, p.Rate, p.For = Open, rapid.Float64Range(1, 500).Draw(t, "rate"), Duration(300*time.Millisecond)
		p.Arrivals = rapid.SampledFrom([]Arrivals{"", Constant, Poisson}).Draw(t, "arrivals")
	}
	return p
}

func drawInput(t *rapid.T) Input {
	var phases []Phase
	for i := range rapid.IntRange(1, 3).Draw(t, "phases") {
		p := drawPhase(t, string(rune('a'+i)))
		if i == 0 && p.Shape == "again" { // there is nothing to follow yet
			p.Shape = "race"
		}
		p.Of = "a"
		phases = append(phases, p)
	}
	return input(rapid.Uint64().Draw(t, "seed"), phases...)
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		a, err := Build(in)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Build(in)
		if a.Digest() != b.Digest() {
			t.Fatal("two digests for one seed")
		}
		for range 2 {
			if diff := cmp.Diff(slices.Collect(a.Operations()), slices.Collect(b.Operations())); diff != "" {
				t.Fatal(diff)
			}
		}
		in.Seed++
		if c, _ := Build(in); a.Total() > 4 && c.Digest() == a.Digest() {
			t.Fatal("another seed gave the same plan")
		}
	})
}

func TestEveryPlanIsWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		ops := build(t, in)
		used := map[string]string{}
		groups := map[int64]bool{}
		for i, o := range ops {
			if o.ID != int64(i+1) {
				t.Fatalf("operation %d has id %d", i+1, o.ID)
			}
			if o.After >= o.ID || o.After < 0 {
				t.Fatalf("operation %d comes after %d", o.ID, o.After)
			}
			if o.Client < 0 || o.Client >= 9 || o.DeadlineNS <= 0 || o.GiveUpNS > int64(time.Millisecond) {
				t.Fatalf("%+v", o)
			}
			if o.Group != 0 && (i == 0 || ops[i-1].Group != o.Group) {
				if groups[o.Group] {
					t.Fatalf("group %d is torn apart", o.Group)
				}
				groups[o.Group] = true
			}
			if o.Group != 0 && i > 0 && ops[i-1].Group == o.Group && ops[i-1].Client != o.Client {
				t.Fatalf("group %d has two clients", o.Group)
			}
			if k, taken := used[o.Path]; strings.ContainsAny(o.Path, "0123456789") && !strings.Contains(o.Path, "999999999") {
				name := firstOf(o.Keys) + keysOf(in, o.Phase)
				if taken && !strings.EqualFold(k, name) && !strings.HasPrefix(o.Spelling, "key: ") {
					t.Fatalf("%s is used by two keys", o.Path)
				}
				used[o.Path] = name
			}
		}
	})
}

// keysOf is the phase that a phase's keys were made for.
func keysOf(in Input, phase string) string {
	for _, p := range in.Spec.Phases {
		if p.Name == phase && p.Shape == "again" {
			return p.Of
		}
	}
	return phase
}

func firstOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

func TestOnePhaseDoesNotShiftAnothers(t *testing.T) {
	second := Phase{Name: "second", Shape: "traffic", Keys: 20, Mix: map[string]int{"order": 1, "close": 1}}
	bodies := func(first int) (out []string) {
		for _, o := range build(t, input(1, Phase{Name: "first", Shape: "storm", Keys: first}, second)) {
			if o.Phase == "second" {
				out = append(out, o.Key+o.Path+string(o.Body))
			}
		}
		return out
	}
	if diff := cmp.Diff(bodies(3), bodies(30)); diff != "" {
		t.Error(diff)
	}
}

func countKeys(ops []history.Operation) map[string]int {
	n := map[string]int{}
	for _, o := range ops {
		if o.Key != "" {
			n[o.Key]++
		}
	}
	return n
}

func TestARaceHasKeysTimesDuplicatesInGroupsOfOneKey(t *testing.T) {
	ops := build(t, input(1, Phase{Name: "p", Shape: "race", Keys: 30, Duplicates: 4, Refused: 0.1, Mix: map[string]int{"order": 1, "close": 1}}))
	refused := 0
	for k, n := range countKeys(ops) {
		if n != 4 {
			t.Errorf("key %s has %d operations", k, n)
		}
	}
	for _, o := range ops {
		if bytes.Contains(o.Body, []byte("1000000000")) {
			refused++
		}
	}
	if len(ops) != 120 || refused != 3*4 {
		t.Errorf("%d operations, %d of them refused", len(ops), refused)
	}
}

func TestAStormHasItsKeysAndItsHotShare(t *testing.T) {
	for _, hot := range []float64{0, 0.2, 0.9, 1} {
		ops := build(t, input(1, Phase{Name: "p", Shape: "storm", Keys: 200, Hot: hot}))
		keys := countKeys(ops)
		total, cold := 0, 0
		for _, n := range keys {
			total += n
			if n == 1 {
				cold++
			}
		}
		if len(keys) != 200 {
			t.Errorf("hot %v: %d keys", hot, len(keys))
		}
		if share := 1 - float64(cold)/float64(total); hot < 1 && (share < hot-0.02 || share > hot+0.02) {
			t.Errorf("hot %v: share is %v", hot, share)
		}
		if keyless := len(ops) - total; keyless == 0 {
			t.Errorf("hot %v: no operation without a key", hot)
		}
	}
}

func TestAnOpenLoopHasRateTimesLengthArrivalsInOrder(t *testing.T) {
	for _, kind := range []Arrivals{Constant, Poisson} {
		ops := build(t, input(5, Phase{Name: "p", Shape: "traffic", Loop: Open, Arrivals: kind, Rate: 1000, For: Duration(2 * time.Second), Duplicates: 3}))
		if len(ops) != 2000 || len(countKeys(ops)) >= 2000 {
			t.Errorf("%s: %d operations, %d keys", kind, len(ops), len(countKeys(ops)))
		}
		short := 0
		for i, o := range ops {
			if o.DueNS < 0 || o.DueNS > int64(2*time.Second) || i > 0 && o.DueNS < ops[i-1].DueNS {
				t.Fatalf("%s: operation %d is due at %d", kind, o.ID, o.DueNS)
			}
			if i > 0 && o.DueNS-ops[i-1].DueNS < int64(500*time.Microsecond) {
				short++
			}
		}
		// Of exponential gaps, 1 − e^(−1/2) = 39 % are shorter than half the mean.
		if want := map[Arrivals]int{Constant: 0, Poisson: 787}[kind]; short < want-100 || short > want+100 {
			t.Errorf("%s: %d short gaps, expected about %d", kind, short, want)
		}
	}
}

func TestSpellingsSayTheTruthAboutTheirRequest(t *testing.T) {
	ops := build(t, input(2, Phase{Name: "p", Shape: "spellings", Keys: 48, Clients: 4, Mix: map[string]int{"order": 4, "close": 1, "checkout": 1}}))
	byKey := map[string]history.Operation{}
	kinds := map[string]int{}
	for _, o := range ops {
		kind, _, _ := strings.Cut(o.Spelling, ":")
		kinds[kind]++
		base, ok := byKey[o.Key]
		if !ok {
			byKey[o.Key] = o
			continue
		}
		switch kind {
		case "same":
			if o.Request != base.Request || !sameJSON(t, base.Body, o.Body) {
				t.Errorf("%q of %s is another request: %s", o.Spelling, base.Body, o.Body)
			}
		case "other":
			if o.Request == base.Request || o.Path == base.Path && bytes.Equal(o.Body, base.Body) {
				t.Errorf("%q of %s is the same request", o.Spelling, base.Body)
			}
		case "scope":
			if o.User == base.User && o.Route == base.Route {
				t.Error("a scope variant in the same scope")
			}
		}
	}
	if kinds["same"] < 100 || kinds["other"] < 100 || kinds["scope"] < 40 {
		t.Errorf("%v", kinds)
	}
}

// sameJSON compares by value; no same variant differs in a number.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

func TestOnlyTheRightFormsMeanAKey(t *testing.T) {
	ops := build(t, input(3, Phase{Name: "p", Shape: "malformed", Keys: 2 * len(forms)}))
	for _, o := range ops {
		strict := len(o.Keys) == 1 && len(o.Keys[0]) == 36 && uuid.Validate(o.Keys[0]) == nil
		if strict != (o.Key != "") {
			t.Errorf("%q: key is %q", o.Keys, o.Key)
		}
		if o.Key != "" && strings.ToLower(o.Keys[0]) != o.Key {
			t.Errorf("%q is not %q", o.Keys, o.Key)
		}
	}
}

func TestPositionsThatRunOutAreAnErrorOnlyWithoutAnotherRoute(t *testing.T) {
	p := Phase{Name: "p", Shape: "race", Keys: 500, Mix: map[string]int{"close": 1}}
	if _, err := Build(input(1, p)); err == nil || !strings.HasPrefix(err.Error(), "phases[0].mix: ") {
		t.Errorf("error is %v", err)
	}
	p.Mix["order"] = 1
	build(t, input(1, p))
}

// The digest is in run.json: whoever changes it changes what old seeds mean, and raises the version in phaseSource.
func TestTheDigestOfASeedIsFixed(t *testing.T) {
	p, err := Build(input(42, Phase{Name: "a", Shape: "race", Keys: 5, Duplicates: 2}, Phase{Name: "b", Shape: "spellings", Keys: 5}))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Digest(); got != goldenDigest {
		t.Errorf("digest is %s", got)
	}
}

const goldenDigest = "be9f224528364cb6d5fc2bbe49e88619532c4e32f14bac49b4c39697bb5cab53"

func BenchmarkBuild(b *testing.B) {
	in := input(1, Phase{Name: "p", Shape: "storm", Keys: b.N, Hot: 0.2})
	b.ReportAllocs()
	if _, err := Build(in); err != nil {
		b.Fatal(err)
	}
}

// bundledShapes are those that the bundled server can be asked in.
func bundledShapes() []Shape {
	return slices.DeleteFunc(slices.Clone(Shapes), func(s Shape) bool { return s.Foreign })
}
