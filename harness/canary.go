package harness

import (
	"context"
	"fmt"
	"strings"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Canary is a broken server that a suite runs first, to show that the alarm works: what is not heard when it should be says nothing when
// it is silent. The zero value was not asked for.
type Canary struct {
	Asked bool
	Off   bool // turned off by the user
	Trial Trialled
}

// Sing runs the canary.
func (t Trials) Sing(ctx context.Context, lab *Lab, trial Trial) (Canary, error) {
	done, err := t.hold(ctx, lab, trial)
	if err != nil {
		return Canary{}, fmt.Errorf("canary: %w", err)
	}
	return Canary{Asked: true, Trial: done}, nil
}

// facts say in the report what the canary showed.
func (c Canary) facts() []verdict.Fact {
	switch {
	case c.Off:
		return []verdict.Fact{{Name: "canary", Value: "turned off: whether the alarm works was not shown"}}
	case !c.Asked:
		return nil
	}
	value := fmt.Sprintf("%s was convicted of %s, as it must be", c.Trial.Variant, strings.Join(c.Trial.Violated, ", "))
	if !c.Trial.Right {
		value = c.Trial.Variant + " was not convicted"
	}
	return []verdict.Fact{{Name: "canary", Value: value}}
}

// doubts make every verdict of the suite inconclusive when the canary was not convicted.
func (c Canary) doubts() []string {
	if !c.Asked || c.Trial.Right {
		return nil
	}
	return []string{fmt.Sprintf("the canary, the broken server %s, was not convicted of %s: the alarm cannot be trusted", c.Trial.Variant, c.Trial.Invariant)}
}
