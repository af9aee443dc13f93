package check

import (
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

var retention = Invariant{
	ID:      "retention",
	Meaning: "a record lives exactly as long as its endpoint says, and is not removed before",
	Unit:    "records",
	Needs:   []Need{NeedRecords},
	judge: func(ix *index, s *sheet) {
		for _, sc := range ix.lives {
			if sc.gone {
				continue
			}
			for _, r := range sc.records {
				if r.CreatedUS == 0 || r.ExpiresUS == 0 || sc.route == nil {
					continue
				}
				s.look()
				ix.judgeLife(sc, r, s)
			}
			if seen := sc.proofOfRecord(); seen != nil && len(sc.records) == 0 && sc.undisturbed() {
				s.look()
				v := sc.violation(fmt.Sprintf("%s had a record, and it is gone before its time.", sc), seen)
				v.Expected, v.Seen = "the record until it expires", "none"
				s.violate(v)
			}
		}
	},
}

// lifeTolerance is for subjects that take expires_at from a second look at the clock.
const lifeTolerance = 2 * time.Second

func (ix *index) judgeLife(sc *scope, r *evidence.Record, s *sheet) {
	life := time.Duration(r.ExpiresUS-r.CreatedUS) * time.Microsecond
	want := sc.route.TTL
	wrong := want > 0 && (life-want).Abs() > min(lifeTolerance, want/10)
	if !wrong && (ix.contract.MaxTTL == 0 || life <= ix.contract.MaxTTL) {
		return
	}
	v := sc.violation(fmt.Sprintf("%s has record %s, which lives %s.", sc, r.ID, life))
	v.Rows, v.Seen = rowsOf(recordRow(r)), life.String()
	v.Expected = fmt.Sprintf("%s, %s at most", want, ix.contract.MaxTTL)
	s.violate(v)
}

// proofOfRecord is an answer which only a record that stays can have given. In-flight and stale claims may be retired since, and what a stated loss may have
// taken proves nothing.
func (s *scope) proofOfRecord() *attempt {
	for i := range s.attempts {
		a := &s.attempts[i]
		if !a.void && (a.answer() == contract.AnswerReplay || a.answer() == contract.AnswerPreviousFailed) {
			return a
		}
	}
	return nil
}
