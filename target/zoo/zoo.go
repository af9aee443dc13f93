package zoo

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Variant is one broken implementation.
type Variant struct {
	// Name is how serve --variant and the reports call it.
	Name string
	// Class is the fault class in a few words, as the track record groups it.
	Class string
	// Story tells a developer how people come to write it.
	Story string
	// Seen is a public example of the class: "owner/repository#number: what it shows". Empty where none was found.
	Seen string
	// Invariant is what it breaks, by its name in contract section 8; Scenario is what must catch it.
	Invariant, Scenario string
	// Explore convicts it without luck. nil where neither an order of statements nor a failure at one shows the fault: it takes
	// a second user, a switch, a clock, a spelling, a load.
	Explore *Exploration
	// Parts replaces one part.
	Parts func(idempotency.Parts) idempotency.Parts
	// Prepare changes the database before the variant serves, for variants that need another schema. It may run
	// several times. Optional.
	Prepare func(context.Context, *pgxpool.Pool) error
}

// All is every variant, in the order of the reports.
var All = []Variant{
	// Claiming.
	selectThenInsert,
	insertWhereNotExists,
	conflictSwallowed,
	rowsAffectedIgnored,
	lockMissingRow,
	inProcessMutex,
	inProcessMap,
	getRunStore,
	sessionLockThroughPool,
	lockReleasedBeforeCommit,
	redisClaimNotDurable,
	noSecondLook,
	missingRecordIsFresh,

	// Staleness.
	noFence,
	thresholdTooShort,
	retireByKey,
	neverFreed,
	stampedeAtExpiry,
	lockKeptAsLongAsRecord,
	recordExpiresWithLock,
	staleByServerClock,

	// Completion and crash.
	completionAfterCommit,
	completionOnClientContext,
	completionByOneWriter,
	rerunAfterLostCommit,
	failedOverCompleted,
	failureFreesKey,
	serverErrorReplayed,
	auditAfterCommit,
	providerWithoutKey,

	// Matching and scope.
	noBodyHash,
	hashInLookupKey,
	lookAlikesAreDuplicates,
	rawBodyHash,
	numbersThroughFloat,
	unreadableBodyIsEmpty,
	pathNotHashed,
	keyNotScopedToUser,
	keyNotScopedToEndpoint,
	nullUserEquals,
	keyComparedAsSpelled,
	cutBodyTakenForWhole,

	// Outage.
	tier1FailsOpen,
	failsOpenOnTimeout,
	failsOpenOnLostRead,
	tier2FailsClosed,
	noDeadline,

	// Retention and privacy.
	cleanupRemovesInFlight,
	cleanupByLocalTime,
	expiryByServerClock,
	erasureSparesInFlight,
	credentialInRecord,

	// Replay.
	statusCodeLost,
	markerMissing,
	noReplayAudit,
	businessAuditOnReplay,
	replayPastGate,
	keyedPastGate,
	flagFlipEmptiesTable,
}

// Canary is the variant that shows that the alarm works: a race that any scenario of duplicates finds.
var Canary = selectThenInsert

// Find returns a variant by its name.
func Find(name string) (Variant, error) {
	names := make([]string, 0, len(All))
	for _, v := range All {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Variant{}, fmt.Errorf("no variant %q; there are: %s", name, strings.Join(names, ", "))
}
