// Package claimtest is the one conformance suite that every claim strategy passes (idempotency.Strategy): the contract of a claim, rule by
// rule, on a real database.
//
// It works through the middleware, as requests do, on two replicas with pools of their own, and believes rows: every execution leaves one in a
// table of the suite's. What a strategy promises otherwise than the contract, its fields say (Ends, Waits, Hides), and the suite holds it to that.
//
// A strategy of one's own is tried in one call:
//
//	claimtest.Run(t, idempotency.Strategy{Name: "mine", New: newMine}, claimtest.Stores{DSN: dsn})
package claimtest

import (
	"testing"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Stores say where a strategy keeps its claims during the suite.
type Stores struct {
	// DSN names a database with the project's migrations. The suite adds users, and the table claimtest_effects.
	DSN string
	// Redis is the host:port of one, for strategies that need it. Their client keeps to the deadlines of contexts (ContextTimeoutEnabled).
	Redis string
}

// rule is one sentence of the contract, and the test that it holds.
type rule struct {
	says  string
	holds func(*rig)
}

// rules are all there are; each has a rig of its own.
var rules = []rule{
	{"a fresh key is executed once", freshKeyIsExecutedOnce},
	{"a replay equals the original by value, is marked and audited, and executes nothing", replayEqualsTheOriginal},
	{"another body under a key that has ended is refused, and executes nothing", otherBodyIsRefused},
	{"a failed action leaves no effect, and its key is refused from then on", failureStays},
	{"a record past its time is claimed afresh, by one", expiredRecordIsClaimedAfresh},
	{"an answer that may not be stored is not replayed: a retry executes again", withheldAnswerExecutesAgain},
	{"nothing is held once a request is over", nothingIsHeldAfterwards},

	{"a duplicate in flight is refused or waits, as the strategy promises", duplicateInFlight},
	{"a wait for the winner ends with the loser's deadline", waitEndsWithTheDeadline},
	{"another body in flight is refused, or answered in flight where claims are hidden", otherBodyInFlight},
	{"a cancelled claim leaves nothing", cancelledClaimLeavesNothing},
	{"a cancelled wait ends, and gives its connection back", cancelledWaitEnds},
	{"many duplicates at once are one execution", manyDuplicates},
	{"many duplicates are at most one execution at every isolation level", everyIsolationLevel},

	{"a worker that lost its claim commits nothing beside the new one", oldOwnerCannotCommit},
	{"a claim whose worker is gone ends as the strategy promises", abandonedClaimEnds},
	{"a stale record is retired, or taken over, by one of many", staleRecordIsRetiredOnce},
	{"an answer that is lost at any statement costs no second execution, and the key settles", lostAnswers},

	{"one key of two users and two endpoints is four keys", scopesDoNotCollide},
	{"a service's key is claimed, and conflicts with nobody's", serviceKeysDoNotConflict},
	{"a user who is gone gets no claim", userWhoIsGone},

	{"a store that refuses, hangs, is read only or has no free connection is an outage for the policy to decide", storeOutages},
	{"a store that is back serves as before", storeComesBack},
}

// Run holds a strategy to every rule, each a subtest that bears its sentence. It takes some ten seconds.
func Run(t *testing.T, s idempotency.Strategy, on Stores) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.says, func(t *testing.T) { rule.holds(newRig(t, s, on)) })
	}
}
