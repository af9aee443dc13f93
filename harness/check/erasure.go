package check

import (
	"fmt"
	"net/http"
	"slices"
)

var erasure = Invariant{
	ID:      "erasure",
	Meaning: "after a user's erasure no record of theirs is left, and none in flight comes back",
	Unit:    "erased users",
	Needs:   []Need{NeedRecords},
	Whole:   true,
	judge: func(ix *index, s *sheet) {
		s.skipped = "no user was erased"
		for range ix.erased {
			s.look()
		}
		for _, sc := range ix.scopes {
			at, erased := ix.erased[sc.user]
			if !erased || len(sc.records) == 0 || sc.sentAfter(at) {
				continue
			}
			v := sc.violation(fmt.Sprintf("%s still has record %s, after the erasure of its user.", sc, sc.records[0].ID),
				sc.firstClaim())
			v.Rows, v.Expected, v.Seen = rowsOf(recordRow(sc.records[0])), "no record", number(len(sc.records))
			s.violate(v)
		}
	},
}

// sentAfter says whether an attempt was sent after the moment and may have made a record of its own. Whose session is gone makes none.
func (s *scope) sentAfter(at int64) bool {
	return slices.ContainsFunc(s.attempts, func(a attempt) bool { return a.sent > at && a.status != http.StatusUnauthorized })
}
