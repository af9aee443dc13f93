package plan

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Limits that keep a mistyped scenario from taking the machine down.
const (
	maxOperations = 20_000_000
	maxClients    = 10_000
	maxGroup      = 10_000 // operations released at one instant, each on a connection of its own
	maxUsers      = 1_000_000
)

var (
	nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	cashForm = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,2})?$`)
)

// Validate refuses a spec that cannot be planned. The error names the field: "phases[1].hot: 1.4 is not between 0 and 1".
func (s Spec) Validate() error {
	if err := s.Fixture.validate(); err != nil {
		return fmt.Errorf("fixture.%w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Retries)) {
		if err := s.Retries[name].validate(); err != nil {
			return fmt.Errorf("retries.%s.%w", name, err)
		}
	}
	if len(s.Phases) == 0 {
		return fmt.Errorf("phases: there is none")
	}
	seen := map[string]bool{}
	for i, ph := range s.Phases {
		err := ph.complete().validate(s.Retries)
		if err == nil && seen[ph.Name] {
			err = fmt.Errorf("name: %q is already taken by another phase", ph.Name)
		}
		if shape, _ := findShape(ph.Shape); err == nil && shape.follows {
			err = must(seen[ph.Of], "of: %q is no phase before this one", ph.Of)
		}
		if err != nil {
			return fmt.Errorf("phases[%d].%w", i, err)
		}
		seen[ph.Name] = true
	}
	return nil
}

func (f Fixture) validate() error {
	return first(
		within("users", f.Users, 0, maxUsers),
		within("positions", f.Positions, 0, maxUsers),
		must(f.Cash == "" || cashForm.MatchString(f.Cash), "cash: %q is not an amount such as 1000000.00", f.Cash),
	)
}

func (r Retry) validate() error {
	return first(
		within("attempts", r.Attempts, 1, 1000),
		oneOf("backoff", r.Backoff, "", Fixed, Exponential),
		within("base", r.Base, 0, Duration(time.Hour)),
		within("cap", r.Cap, 0, Duration(time.Hour)),
		must(r.Cap == 0 || r.Cap >= r.Base, "cap: %v is less than base, %v", r.Cap, r.Base),
	)
}

// complete fills in what may be left out.
func (p Phase) complete() Phase {
	if p.Loop == "" {
		p.Loop = Closed
	}
	if p.Arrivals == "" {
		p.Arrivals = Constant
	}
	if len(p.Mix) == 0 {
		p.Mix = map[string]int{"order": 1}
	}
	setZero(&p.Clients, 1)
	setZero(&p.Duplicates, 1)
	setZero(&p.Deadline, Duration(5*time.Second))
	setZero(&p.Bound, p.For+Duration(time.Minute))
	return p
}

func setZero[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

func (p Phase) validate(retries map[string]Retry) error {
	_, known := retries[p.Retry]
	return first(
		must(nameForm.MatchString(p.Name), "name: %q is not a name of letters, digits, dots and hyphens, at most 64", p.Name),
		oneOf("loop", p.Loop, Closed, Open),
		oneOf("arrivals", p.Arrivals, Constant, Poisson),
		within("clients", p.Clients, 1, maxClients),
		within("keys", p.Keys, 0, maxOperations),
		within("duplicates", p.Duplicates, 1, maxOperations),
		within("at", p.At, 0, Duration(time.Hour)),
		within("replica", p.Replica, 0, 16),
		within("rate", p.Rate, 0, 1e6),
		within("hot", p.Hot, 0, 1),
		within("refused", p.Refused, 0, 1),
		within("impatient", p.Impatient, 0, 1),
		within("for", p.For, 0, Duration(24*time.Hour)),
		within("bound", p.Bound, Duration(time.Millisecond), Duration(48*time.Hour)),
		within("deadline", p.Deadline, Duration(time.Millisecond), Duration(time.Hour)),
		within("give_up", p.GiveUp, 0, p.Deadline),
		must(p.Impatient == 0 || p.GiveUp > 0, "give_up: it is missing, and impatient is not 0"),
		must(p.Retry == "" || known, "retry: %q is not among the retries", p.Retry),
		p.validateMix(),
		p.validateShape(),
		wrap("manners.", p.validateManners()),
		p.validateCount(),
	)
}

func (p Phase) validateMix() error {
	total := 0
	for _, id := range slices.Sorted(maps.Keys(p.Mix)) {
		if _, ok := findTemplate(id); !ok {
			return fmt.Errorf("mix.%s: no request is known for it; known are %s", id, strings.Join(templateNames(), ", "))
		}
		if w := p.Mix[id]; w < 0 || w > 1_000_000 {
			return fmt.Errorf("mix.%s: %d is not between 0 and 1000000", id, w)
		}
		total += p.Mix[id]
	}
	return must(total > 0, "mix: no weight is above 0")
}

func (p Phase) validateShape() error {
	s, ok := findShape(p.Shape)
	if !ok {
		return fmt.Errorf("shape: %q is none of %s", p.Shape, strings.Join(shapeNames(), ", "))
	}
	if p.Loop == Open {
		return first(
			must(s.Open, "loop: shape %s is for a closed loop only", p.Shape),
			must(p.Rate > 0, "rate: an open loop needs one"),
			must(p.For > 0, "for: an open loop needs a length"),
		)
	}
	return first(
		must(p.Keys > 0 || s.follows, "keys: shape %s needs at least 1 in a closed loop", p.Shape),
		must(!s.Groups || p.Duplicates <= maxGroup, "duplicates: %d at one instant are more than %d", p.Duplicates, maxGroup),
	)
}

func (p Phase) validateCount() error {
	n := float64(p.Keys) * float64(p.Duplicates)
	if p.Loop == Open {
		n = p.Rate * p.For.Std().Seconds()
	}
	return must(n <= maxOperations, "keys: the phase comes to %.0f operations, more than %d", n, maxOperations)
}

// first is the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// wrap puts the name of the part that an error is about before it.
func wrap(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", part, err)
}

func must(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func within[T int | float64 | Duration](field string, v, lo, hi T) error {
	ok := v >= lo && v <= hi && !math.IsNaN(float64(v))
	return must(ok, "%s: %v is not between %v and %v", field, v, lo, hi)
}

func oneOf[T ~string](field string, v T, known ...T) error {
	return must(slices.Contains(known, v), "%s: %q is none of %q", field, v, known)
}
