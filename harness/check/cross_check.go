package check

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// crossCheck lets porcupine give a second opinion on small keys. The rules are the judge; that both agree is evidence that neither
// has a hole.
type crossCheck struct {
	limits    Limits
	looked    int
	undecided int
	disagree  int
	first     string
}

// undecidedMost is how many keys may run into porcupine's limit before it is not asked any more.
const undecidedMost = 20

func newCrossCheck(l Limits) *crossCheck { return &crossCheck{limits: l} }

// agrees asks about one key, and is false only if porcupine contradicts the rules. Keys of a single attempt are left to the rules
// unless those object.
func (c *crossCheck) agrees(sc *scope, l life, broken *contradiction) bool {
	n := len(l.attempts)
	if n > crossKeySize || (n < 2 && broken == nil) || c.looked >= c.limits.CrossKeys || c.undecided >= undecidedMost {
		return true
	}
	c.looked++
	result := porcupineSays(&l, c.limits.CrossTime)
	if result == porcupine.Unknown {
		c.undecided++
		return true
	}
	if (result == porcupine.Ok) == (broken == nil) {
		return true
	}
	c.disagree++
	if c.first == "" {
		c.first = fmt.Sprintf("on %s the rules say %s and porcupine says %s", lowerKey(sc), opinion(broken), result)
	}
	return false
}

func opinion(broken *contradiction) string {
	if broken == nil {
		return "legal"
	}
	return "illegal (" + broken.rule + ")"
}

// doubt is the disagreement, if there was one: the finding is then inconclusive, unless the rules convicted another key.
func (c *crossCheck) doubt() string {
	if c.disagree == 0 {
		return ""
	}
	return fmt.Sprintf("two checkers disagree on %d of %d keys: %s", c.disagree, c.looked, c.first)
}
