package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

var replayFidelity = Invariant{
	ID:      "replay-fidelity",
	Meaning: "a replay equals the original answer in code and body, by value, its marker aside",
	Unit:    "replays",
	judge: func(ix *index, s *sheet) {
		for _, sc := range ix.lives {
			if sc.key == "" || sc.route == nil {
				continue
			}
			sc.judgeReplays(s)
			if ix.contract.Foreign && !ix.contract.Marker.Stated() {
				sc.unmarkedReplays(s)
			}
		}
	},
}

// original is an answer that a replay may repeat.
type original struct {
	status  int32
	body    uint64
	attempt *attempt         // the client saw it
	record  *evidence.Record // or the store kept it
}

// originals are, in order of trust: the fresh answers that the client saw; else the stored one; else the first replay, which all
// others must equal. Where a key may have run more than once by right, each of its answers counts.
func (s *scope) originals() (list []original) {
	for i := range s.attempts {
		if a := &s.attempts[i]; a.answer() == contract.AnswerFresh {
			list = append(list, original{status: a.status, body: a.body, attempt: a})
		}
	}
	if len(list) > 0 && s.undisturbed() {
		return list
	}
	for _, r := range s.records {
		if r.Body != "" && r.Code != 0 {
			list = append(list, original{status: int32(r.Code), body: bodyHash([]byte(r.Body)), record: r})
		}
	}
	if a := s.any(contract.AnswerReplay); a != nil && (len(list) == 0 || !s.undisturbed()) {
		list = append(list, original{status: a.status, body: a.body, attempt: a})
	}
	return list
}

func (s *scope) judgeReplays(sh *sheet) {
	var list []original
	for i := range s.attempts {
		a := &s.attempts[i]
		if a.answer() != contract.AnswerReplay {
			continue
		}
		if list == nil {
			list = s.originals()
		}
		sh.look()
		if !repeats(a, list) {
			sh.violate(s.unfaithful(a, list[0]))
		}
	}
}

func repeats(a *attempt, list []original) bool {
	for _, o := range list {
		if a.status == o.status && a.body == o.body {
			return true
		}
	}
	return false
}

func (s *scope) unfaithful(a *attempt, o original) (v violation) {
	what := "another body than"
	if a.status != o.status {
		what = fmt.Sprintf("code %d instead of %d of", a.status, o.status)
	}
	v = s.violation(fmt.Sprintf("%s was replayed to operation %d with %s the original.", s, a.op.id, what), o.attempt, a)
	v.Expected, v.Seen = number(o.status), number(a.status)
	if o.record != nil {
		v.Rows = rowsOf(recordRow(o.record))
		v.Expected += " " + shorten(o.record.Body)
	}
	return v
}
