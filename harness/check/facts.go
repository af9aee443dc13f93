package check

import (
	"math"
	"slices"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/evidence"
	"github.com/idemstorm/idemstorm/harness/history"
)

// forever is the end of what is not known to have ended.
const forever = math.MaxInt64

// operation is what the invariants need of a planned operation.
type operation struct {
	id        int64
	scope     *scope
	request   uint64  // equal within a scope: the same request, whatever its spelling
	spelling  *string // nil for the usual one
	firstSent int64   // forever while it has no attempt
	place     int32   // among the scope's operations
	once      bool    // it shows how a situation is treated, and is asked once
	malformed bool
}

// spelled is how the request is written, "" for the usual way.
func (op *operation) spelled() string {
	if op.spelling == nil {
		return ""
	}
	return *op.spelling
}

// attempt is what the invariants need of a sent request. Times are nanoseconds since the run's zero; [sent, done] is closed. A long run has
// millions: its size is most of what a check holds in memory.
type attempt struct {
	op      *operation
	sent    int64
	whole   int64 // when the last byte was sent: before that the server has no request
	done    int64
	body    uint64  // see bodyHash; only of 2xx answers, and of operations that are asked once
	code    *string // of operations that are asked once: the JSON member "error"
	bytes   int32   // of a cut request: how much was sent
	n       int32
	status  int32
	replica int16
	means   meaning
	out     outcome
	marked  bool // as a replay
	settle  bool
	safe    bool // it was answered before the time of a stated loss
	proven  bool // it was answered in the time of a stated loss, and what it did is there
	void    bool // it was answered in the time of a stated loss: what it did may be gone
}

// meaning is a contract.Answer in one byte: its place in meanings.
type meaning uint8

var meanings = [...]contract.Answer{
	contract.AnswerUnknown, contract.AnswerFresh, contract.AnswerReplay, contract.AnswerMismatch, contract.AnswerInFlight, contract.AnswerPreviousFailed, contract.AnswerStale,
	contract.AnswerMalformed, contract.AnswerStoreDown, contract.AnswerGated, contract.AnswerRejected, contract.AnswerFailed, contract.AnswerDone, contract.AnswerRefused,
}

// meaningOf takes what it does not know for unknown, as the contract does.
func meaningOf(a contract.Answer) meaning { return meaning(max(0, slices.Index(meanings[:], a))) }

// answer is what the contract calls the attempt's answer.
func (a *attempt) answer() contract.Answer { return meanings[a.means] }

// outcome is a history.Outcome in one byte: its place in outcomes.
type outcome uint8

const (
	returned outcome = iota
	lost
	unsent
	cutShort
)

var outcomes = [...]history.Outcome{returned: history.Returned, lost: history.Lost, unsent: history.Unsent, cutShort: history.Cut}

// outcomeOf takes what it does not know for lost: nobody knows what came of it.
func outcomeOf(o history.Outcome) outcome {
	if i := slices.Index(outcomes[:], o); i >= 0 {
		return outcome(i)
	}
	return lost
}

func (a *attempt) ref() history.Ref { return history.Ref{Op: a.op.id, N: int(a.n)} }

// returned says whether the client saw an answer.
func (a *attempt) returned() bool { return a.out == returned }

// acked says whether the client was told that the action is done.
func (a *attempt) acked() bool {
	return a.answer() == contract.AnswerFresh || a.answer() == contract.AnswerReplay || a.answer() == contract.AnswerDone
}

// open says whether the attempt may take effect after its end: the client does not know what the server still does.
func (a *attempt) open() bool {
	switch {
	case a.out == lost, a.answer() == contract.AnswerFailed, a.answer() == contract.AnswerStoreDown:
		return true
	}
	return a.returned() && a.answer() == contract.AnswerUnknown
}

// name is a key's scope.
type name struct {
	key      string
	user     int64
	endpoint string
}

// scope is everything about one key of one user on one endpoint. Operations without a valid key have one scope each, with an
// empty key, so that every attempt belongs to exactly one scope.
type scope struct {
	name
	route     *contract.Route // nil for an endpoint that the contract does not know
	spelled   []string        // header lines of a malformed key only
	ops       []*operation
	attempts  []attempt // by time of sending; unsent and cut ones are left out
	cut       []attempt // requests that were sent in part: no part of the key's life
	planned   int       // how many operations the plan has of it
	unsent    int
	orders    []*evidence.Order
	audits    []*evidence.Audit // business rows
	replays   []int32           // places in index.replays
	records   []*evidence.Record
	charges   []*evidence.Charge
	disturbed bool   // overlapped a fault of any kind, with a margin, or was slow
	outage    bool   // overlapped a fault that may have struck the key store, or the server counted it as out
	off       bool   // overlapped a time when the middleware was switched off
	expiring  bool   // lasted longer than its records live: a key may then run again
	erased    bool   // its user was erased during the run
	faults    []int  // ids of those that its attempts may have felt
	voided    int    // attempts whose effect a stated loss may have taken
	gone      bool   // half of a divided scope: its rows were lost with the old database
	whole     *scope // of a half; nil for a whole one
	lives     int    // how often its record may have begun anew: once, and once more for each expiry that is noted
}

// deduplicates says whether the contract promises at most one execution for this scope, whatever happened: a key of a user, on a
// route that replays. Service calls are a documented limit (section 2), routes with PII answers execute again (section 3).
func (s *scope) deduplicates() bool {
	return s.key != "" && s.user > 0 && s.route != nil && s.route.Replays
}

// failedOpen says whether requests may have gone on without a claim: tier 2 does while the key store is out (section 6.7).
func (s *scope) failedOpen() bool { return s.outage && !s.protected(contract.TierClosed) }

// undisturbed says whether the record's whole life lies inside the run, so that its rules apply without exception.
func (s *scope) undisturbed() bool {
	return s.deduplicates() && !s.failedOpen() && !s.off && !s.expiring && !s.erased
}

// mayClaim says whether the attempt may have taken the key.
func (a *attempt) mayClaim() bool {
	return a.open() || a.answer() == contract.AnswerFresh || a.answer() == contract.AnswerDone || a.answer() == contract.AnswerRejected
}

// firstSent is when the scope's first attempt was sent; forever without one.
func (s *scope) firstSent() int64 {
	if len(s.attempts) == 0 {
		return forever
	}
	return s.attempts[0].sent
}

// any finds the first attempt with one of the answers; nil if there is none.
func (s *scope) any(answers ...contract.Answer) *attempt {
	for i := range s.attempts {
		for _, answer := range answers {
			if s.attempts[i].returned() && s.attempts[i].answer() == answer {
				return &s.attempts[i]
			}
		}
	}
	return nil
}

// count says how many attempts got the answer.
func (s *scope) count(answer contract.Answer) (n int) {
	for i := range s.attempts {
		if s.attempts[i].returned() && s.attempts[i].answer() == answer {
			n++
		}
	}
	return n
}
