package check

import (
	"fmt"
	"strings"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
)

var metricsAgree = Invariant{
	ID:      "metrics-agree",
	Meaning: "the server's counters say what the history says",
	Unit:    "counters",
	Needs:   []Need{NeedCounters},
	Whole:   true,
	judge: func(ix *index, s *sheet) {
		s.skipped = "the metrics have none of the contract's counters"
		for i := range ix.contract.Routes {
			r := &ix.contract.Routes[i]
			if r.Tier == contract.TierNone || !r.Replays { // a re-execution may count as miss or as hit
				continue
			}
			ix.judgeCounters(r.Scope(), ix.expectedCounts(r), s)
		}
	},
}

// bounds are the least and the most that a counter may say.
type bounds struct{ least, most int }

// The contract's counters (section 7) by what each counts.
var counters = []struct {
	name   string
	counts func(*attempt) bool
}{
	{"idempotency_miss_total", answered(contract.AnswerFresh)},
	{"idempotency_hit_total", (*attempt).recordSeen},
	{"idempotency_replay_total", answered(contract.AnswerReplay)},
	{"idempotency_mismatch_total", answered(contract.AnswerMismatch)},
	{"idempotency_in_flight_total", answered(contract.AnswerInFlight)},
	{"idempotency_stale_total", answered(contract.AnswerStale)},
	{"idempotency_store_unavailable_total", answered(contract.AnswerStoreDown)},
}

func answered(answer contract.Answer) func(*attempt) bool {
	return func(a *attempt) bool { return a.answer() == answer }
}

// expectedCounts derives each counter of a route from the answers. An answer that names its cause is certain; one that was lost,
// failed or refused by the handler may have been counted as anything.
func (ix *index) expectedCounts(r *contract.Route) []bounds {
	list := make([]bounds, len(counters))
	for _, sc := range ix.scopes {
		if sc.route != r || sc.key == "" || sc.user <= 0 {
			continue
		}
		for i := range sc.attempts {
			a := &sc.attempts[i]
			certain := !sc.off && !sc.failedOpen()
			for n := range counters {
				list[n].add(counters[n].counts(a), certain, a.uncertain(n))
			}
		}
	}
	return list
}

// uncertain says whether the attempt may have raised the n-th counter though its answer does not show it. A refusal by the
// handler follows a claim, and nothing else.
func (a *attempt) uncertain(n int) bool {
	return a.open() || (a.answer() == contract.AnswerRejected && counters[n].name == "idempotency_miss_total")
}

func (b *bounds) add(counted, certain, possible bool) {
	switch {
	case counted && certain:
		b.least, b.most = b.least+1, b.most+1
	case counted, possible, !certain:
		b.most++
	}
}

func (ix *index) judgeCounters(endpoint string, want []bounds, s *sheet) {
	for n, c := range counters {
		if !ix.counts(c.name) && (want[n].least == 0 || len(ix.set.Counters) == 0) {
			continue
		}
		s.look()
		seen := ix.set.Counters[evidence.CounterName(c.name, endpoint)]
		if seen >= float64(want[n].least) && seen <= float64(want[n].most) {
			continue
		}
		expected := number(want[n].least)
		if want[n].most > want[n].least {
			expected = fmt.Sprintf("%d to %d", want[n].least, want[n].most)
		}
		s.violate(violation{
			Endpoint: endpoint,
			Sentence: fmt.Sprintf("%s of %s is %g, and the answers make it %s.", c.name, endpoint, seen, expected),
			Expected: expected,
			Seen:     fmt.Sprintf("%g", seen),
		})
	}
}

// counts says whether the subject has the counter at all: a counter that was never raised has no line of its endpoint.
func (ix *index) counts(name string) bool {
	for line := range ix.set.Counters {
		if strings.HasPrefix(line, name+"{") {
			return true
		}
	}
	return false
}
