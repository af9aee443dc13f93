package check

import (
	"cmp"
	"fmt"

	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Invariant is one line of contract section 8.
type Invariant struct {
	ID      string
	Meaning string // one sentence
	Unit    string // what Finding.Looked counts
	Needs   []Need // evidence it cannot do without
	ByFault bool   // it says for each fault what it found in it
	Whole   bool   // facts that are missing would look like violations, so part of a history cannot be judged

	judge func(*index, *sheet)
}

// Invariants are all that is judged, in the order of the report: what costs money first. To add one: its file, its test, its line
// here.
var Invariants = []Invariant{
	atMostOnce,
	ackedDurable,
	moneyConserved,
	orderAuditMatch,
	nothingUnclaimed,
	replayFidelity,
	replayAudited,
	mismatchRejected,
	scopeIsolated,
	failClosed,
	failOpen,
	legalTransitions,
	recovers,
	zombieFenced,
	resourcesReturn,
	retention,
	erasure,
	gatesRespected,
	malformedRejected,
	noSecrets,
	metricsAgree,
}

// Need is a kind of evidence.
type Need struct {
	Name string // in the sentence "no … named"
	Has  func(*evidence.Set) bool
}

// The kinds of evidence.
var (
	NeedExecutions = Need{"orders or audits query", func(s *evidence.Set) bool { return s.Orders != nil || s.Audits != nil }}
	NeedOrders     = Need{"orders query", func(s *evidence.Set) bool { return s.Orders != nil }}
	NeedAudits     = Need{"audits query", func(s *evidence.Set) bool { return s.Audits != nil }}
	NeedReplays    = Need{"replays query", func(s *evidence.Set) bool { return s.Replays != nil }}
	NeedRecords    = Need{"records query", func(s *evidence.Set) bool { return s.Records != nil }}
	NeedAccounts   = Need{"accounts query", func(s *evidence.Set) bool { return s.Opening != nil && s.Closing != nil }}
	NeedBacking    = Need{"orders query or provider ledger", func(s *evidence.Set) bool { return s.Orders != nil || s.Charges != nil }}
	NeedCounters   = Need{"counters (or a replica was restarted)", func(s *evidence.Set) bool { return s.Counters != nil }}
	NeedResources  = Need{"figures of what the servers held before the first fault and after the last", func(s *evidence.Set) bool { return s.Before != nil && s.After != nil }}
	NeedSearch     = Need{"place to search for credentials", func(s *evidence.Set) bool { return s.Secrets != nil }}
)

// find judges one invariant and says how far the judgement reaches.
func (inv Invariant) find(ix *index, claimed bool) verdict.Finding {
	f := verdict.Finding{Invariant: inv.ID, Unit: inv.Unit, Claimed: claimed}
	f.Status = verdict.NotJudged
	if claimed {
		f.Status = verdict.Inconclusive
	}
	if why, unstated := ix.contract.Unstated[inv.ID]; unstated {
		f.Why = why
		return f
	}
	for _, need := range inv.Needs {
		if !need.Has(ix.set) {
			f.Why = cmp.Or(ix.missing, fmt.Sprintf("no %s named", need.Name))
			return f
		}
	}
	if inv.Whole && ix.partial != "" {
		f.Why = "needs the whole history: " + ix.partial
		return f
	}
	s := &sheet{}
	inv.judge(ix, s)
	s.conclude(&f, ix.partial)
	if never := ix.contract.Claims.NeverArises(inv.ID); never != "" && s.looked == 0 && s.doubt == "" && ix.partial == "" {
		f.Status, f.Why = verdict.NotJudged, never
	}
	if inv.ByFault {
		f.Faults = s.tallies(ix.windows)
	}
	if f.FirstNS != 0 {
		f.FirstOps = ix.begunBy(f.FirstNS)
	}
	return f
}

// begunBy counts the operations that were sent by a moment.
func (ix *index) begunBy(at int64) (n int64) {
	for _, sc := range ix.scopes {
		for _, op := range sc.ops {
			if op.firstSent <= at {
				n++
			}
		}
	}
	return n
}
