package fault

import "fmt"

// expireSQL moves both ends of a record's life by the same time.
const expireSQL = `
UPDATE idempotency_keys
SET created_at = created_at - (expires_at - NOW()) - interval '1 second', expires_at = NOW() - interval '1 second'
WHERE expires_at > NOW() AND ($1 = '' OR ($1 = 'in_flight') = (status = 'in_flight'))`

// noteExpired is the kind of the note that a final record is past its life: its key may run once more. What is in flight never
// expires by the contract, so nothing is noted of it.
const noteExpired = "expired"

// recordsExpire lets a whole life pass.
var recordsExpire = Kind{
	Name:  "records-expire",
	Story: "records are past their life at once",
	On:    []Target{Records},
	Strike: func(s Spec, w World) (Strike, error) {
		return onRecords(s, w, expireSQL, []any{s.State}, func(list []aged) {
			for _, r := range list {
				if r.Final {
					w.Note(noteExpired, fmt.Sprintf("%s %d %s", r.Key, r.User, r.Endpoint))
				}
			}
		})
	},
	Check: checkState,
}
