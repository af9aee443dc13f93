package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// One reading for both gives what one reading for each does: on whatever happens to a key, right or broken.
func TestJudgingARunInOneReadingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRun(t)
		if rapid.Bool().Draw(t, "broken") {
			rapid.SampledFrom(mutations).Draw(t, "mutation").breakIt(t, s)
		}
		in := s.input(IDs()...)
		var apart, together verdict.Run
		apart.Verdict = Judge(in)
		Summarise(in, &apart)
		JudgeRun(in, &together)
		if diff := cmp.Diff(apart, together); diff != "" {
			t.Fatal(diff)
		}
	})
}
