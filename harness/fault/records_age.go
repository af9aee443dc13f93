package fault

import "errors"

// ageSQL leaves alone what would expire by it.
const ageSQL = `
UPDATE idempotency_keys SET created_at = created_at - $1::interval, expires_at = expires_at - $1::interval
WHERE expires_at - $1::interval > NOW() + interval '1 minute'
  AND ($2 = '' OR ($2 = 'in_flight') = (status = 'in_flight'))`

// recordsAge lets hours pass for records that are still alive afterwards. The claim's own clock, locked_at, stays.
var recordsAge = Kind{
	Name:  "records-age",
	Story: "records become older by a time that they outlive",
	Sees:  "409 stale, then a fresh attempt",
	Holds: "of many losers exactly one retires the claim, and one executes",
	On:    []Target{Records},
	Strike: func(s Spec, w World) (Strike, error) {
		if !w.canChange(s) {
			return nil, errNoRecords
		}
		return &jobStrike{every: s.Every, do: w.thenRun(s, w.change(ageSQL, false, s.By, s.State))}, nil
	},
	Check: func(s Spec) error {
		if s.By <= 0 {
			return errors.New("by: records-age needs a positive time")
		}
		return checkRecords(s)
	},
}
