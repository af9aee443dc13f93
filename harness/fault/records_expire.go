package fault

// Both statements move both ends of a record's life, by far more than any life is long. The claim's own clock, locked_at, stays.
const (
	expireSQL = `
UPDATE idempotency_keys
SET created_at = created_at - interval '1000 days', expires_at = expires_at - interval '1000 days'
WHERE expires_at > NOW() AND ($1 = '' OR ($1 = 'in_flight') = (status = 'in_flight'))`
	reviveSQL = `
UPDATE idempotency_keys
SET created_at = created_at + interval '1000 days', expires_at = expires_at + interval '1000 days'
WHERE expires_at < NOW() - interval '900 days'`
)

// recordsExpire lets a whole life pass. Records in flight are given it back when the fault ends, so that their keys are judged as if
// nothing had been: cleanup must not have touched them. The requests must take longer than the fault.
var recordsExpire = Kind{
	Name:  "records-expire",
	Story: "records are past their life: those in flight while the fault lasts, others for good",
	Sees:  "a key past its life runs afresh",
	Holds: "one execution for each life of a record, however many ask at the same instant",
	On:    []Target{Records},
	Strike: func(s Spec, w World) (Strike, error) {
		if !w.canChange(s) {
			return nil, errNoRecords
		}
		strike := &jobStrike{every: s.Every, do: w.thenRun(s, w.change(expireSQL, true, s.State))}
		if s.State == stateInFlight {
			strike.undo = w.change(reviveSQL, true)
		}
		return strike, nil
	},
	Check: checkRecords,
}
