package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/evidence"
)

// evidenceAgrees never convicts: it does not know which of two sources is wrong.
var evidenceAgrees = Invariant{
	ID:      "evidence-agrees",
	Meaning: "all sources of evidence count the same executions",
	Unit:    "keys",
	judge: func(ix *index, s *sheet) {
		sources := ix.set.Sources
		if len(sources) < 2 {
			s.skipped = "there is one source of evidence only"
			return
		}
		first := counts(sources[0])
		for _, other := range sources[1:] {
			ix.compareSources(sources[0].Name, other.Name, first, counts(other), s)
		}
	},
}

func counts(source evidence.Source) map[string]int {
	n := map[string]int{}
	for _, e := range source.Executions {
		n[e.Owner]++
	}
	return n
}

// compareSources looks at every key that was sent.
func (ix *index) compareSources(one, two string, a, b map[string]int, s *sheet) {
	differ := 0
	for _, sc := range ix.scopes {
		if sc.key == "" || len(sc.ops) == 0 {
			continue
		}
		s.look()
		owner := evidence.Owner(sc.key, sc.user)
		if a[owner] == b[owner] {
			continue
		}
		if differ++; differ == 1 && s.doubt == "" {
			s.doubt = fmt.Sprintf("%s: evidence.%s shows %d executions, and evidence.%s shows %d", sc, one, a[owner], two, b[owner])
		}
	}
	if differ > 1 {
		s.doubt += fmt.Sprintf("; %d keys differ in all", differ)
	}
}
