package zoo

import "github.com/idemstorm/idemstorm/target/idempotency"

var cleanupByLocalTime = Variant{
	Name:  "cleanup-by-local-time",
	Class: "cleanup by the wrong clock",
	Story: "The cleanup compares the column, which is in UTC, with the time on the office's wall. Records of the last hour or two " +
		"of their lives are gone too early, and their keys run again.",
	Seen:      "langgenius/dify#40998: cleanup compares local time with columns that are in UTC",
	Invariant: "at-most-once",
	Scenario:  "retention",
	Explore:   &Exploration{Case: "cleanup-kept"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Sweeper = statementSweeper(sweepByLocalTimeSQL)
		return p
	},
}

// sweepByLocalTimeSQL reads the wall clock of a place that is one or two hours ahead, as if it were UTC.
const sweepByLocalTimeSQL = `
DELETE FROM idempotency_keys
WHERE id IN (
    SELECT id FROM idempotency_keys
    WHERE expires_at < (NOW() AT TIME ZONE 'Europe/Berlin') AT TIME ZONE 'UTC' AND status IN ('completed', 'failed')
    ORDER BY expires_at
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)`
