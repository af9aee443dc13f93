package check

import (
	"fmt"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/history"
)

var replayAudited = Invariant{
	ID:      "replay-audited",
	Meaning: "every replay has its one replay audit row, with the original's hash and code",
	Unit:    "keys with replays",
	Needs:   []Need{NeedReplays},
	Whole:   true,
	judge: func(ix *index, s *sheet) {
		for _, sc := range ix.lives {
			if sc.key == "" || sc.off || sc.gone || (len(sc.replays) == 0 && sc.any(contract.AnswerReplay) == nil) {
				continue
			}
			s.look()
			ix.judgeReplayRows(sc, s)
		}
	},
}

// judgeReplayRows compares counts: a replay that the client saw has a row for certain, one whose answer was lost or turned into an
// error may have. On tier 2 a row may be missing while the store is out.
func (ix *index) judgeReplayRows(s *scope, sh *sheet) {
	least, most := 0, s.voidReplays()
	for i := range s.attempts {
		a := &s.attempts[i]
		if a.void {
			continue
		}
		if a.answer() == contract.AnswerReplay {
			least, most = least+1, most+1
		} else if a.open() {
			most++
		}
	}
	if (s.disturbed || s.outage) && !s.protected(contract.TierClosed) { // a replay whose row was written and not heard of went on as fresh
		least, most = 0, most+s.count(contract.AnswerFresh)
	}
	if rows := len(s.replays); rows < least || rows > most {
		want := fmt.Sprintf("%d", least)
		if most > least {
			want = fmt.Sprintf("%d to %d", least, most)
		}
		v := s.violation(fmt.Sprintf("%s was replayed %s times by its answers and %d times by its audit rows.", s, want, rows),
			s.replayed()...)
		v.Rows, v.Expected, v.Seen = ix.replayRows(s.replays), want+" replay audit rows", number(rows)
		sh.violate(v)
		return
	}
	ix.judgeReplayFields(s, sh)
}

// voidReplays counts the replays whose rows a stated loss may have taken, in the whole of what may be a half only.
func (s *scope) voidReplays() (n int) {
	all := s
	if s.whole != nil {
		all = s.whole
	}
	for i := range all.attempts {
		if a := &all.attempts[i]; a.void && (a.answer() == contract.AnswerReplay || a.open()) {
			n++
		}
	}
	return n
}

// judgeReplayFields compares each row with the record and the business audit row, as far as the subject stores them.
func (ix *index) judgeReplayFields(s *scope, sh *sheet) {
	hash, code := s.originalFields()
	for _, i := range s.replays {
		_, r := ix.replays.Common(int(i))
		if (hash != "" && r.Hash != "" && r.Hash != hash) || (code != 0 && r.Code != 0 && r.Code != code) {
			row := ix.replays.At(int(i))
			v := s.violation(fmt.Sprintf("%s has a replay audit row %s that does not carry the original's hash and code.", s, row.ID))
			v.Rows = rowsOf(auditRow(&row))
			v.Expected, v.Seen = fmt.Sprintf("hash %s, code %d", hash, code), fmt.Sprintf("hash %s, code %d", r.Hash, r.Code)
			sh.violate(v)
		}
	}
}

// originalFields are the hash and code of the execution; zero where they are not known for certain. Of a key with several records or
// executions nobody knows which was replayed; other invariants convict it.
func (s *scope) originalFields() (hash string, code int) {
	if !s.undisturbed() || len(s.records) > 1 || len(s.auditExecutions()) > 1 {
		return "", 0
	}
	if a := s.any(contract.AnswerFresh); a != nil {
		code = int(a.status)
	}
	for _, r := range s.records {
		hash, code = r.Hash, r.Code
	}
	for _, a := range s.audits {
		if s.business(a) && a.Hash != "" {
			hash = a.Hash
		}
	}
	return hash, code
}

func (s *scope) replayed() (list []*attempt) {
	for i := range s.attempts {
		if s.attempts[i].answer() == contract.AnswerReplay {
			list = append(list, &s.attempts[i])
		}
	}
	return list
}

func (ix *index) replayRows(places []int32) (list []history.Row) {
	for _, i := range places[:min(len(places), maxRefs)] {
		row := ix.replays.At(int(i))
		list = append(list, auditRow(&row))
	}
	return list
}
