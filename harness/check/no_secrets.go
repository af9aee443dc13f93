package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/history"
)

var noSecrets = Invariant{
	ID:      "no-secrets",
	Meaning: "no credential reaches a stored answer or a log line",
	Unit:    "log lines and stored answers",
	Needs:   []Need{NeedSearch},
	judge: func(ix *index, s *sheet) {
		s.looked = ix.set.Scanned
		for _, r := range ix.set.Secrets {
			s.violate(violation{
				Sentence: fmt.Sprintf("%s, line %s, holds what looks like a credential (%s).", r.Table, r.ID, r.Fields["looks_like"]),
				Expected: "no credential",
				Seen:     r.Fields["looks_like"],
				Rows:     []history.Row{r},
			})
		}
	},
}
