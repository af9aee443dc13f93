package claimtest

import (
	"sync"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Rules about whose key it is.

func scopesDoNotCollide(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	var calls []call
	for _, user := range r.users {
		for _, endpoint := range []string{closed, alsoThere} {
			c.user, c.endpoint = user, endpoint
			calls = append(calls, c)
		}
	}
	flights := make([]flight, len(calls))
	for i, c := range calls { // all at work at once: none waits for another
		flights[i] = a.begin(c)
	}
	originals := make([]answer, len(calls))
	var all sync.WaitGroup
	for i, f := range flights {
		all.Go(func() { originals[i] = r.finish(f) })
	}
	all.Wait()
	for i, c := range calls {
		r.want("a fresh execution", originals[i], answer.isFresh)
		r.wantReplayOf(originals[i], b.do(c))
	}
	r.wantEffects(c.key, len(calls))
	r.wantRecords(c.key, len(calls), idempotency.Completed)
}

// serviceKeysDoNotConflict: contract section 2, a documented limit.
func serviceKeysDoNotConflict(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	mine := a.do(c)
	c.service = true
	one := a.begin(c)
	two := b.begin(c)
	for _, f := range []flight{two, one} {
		r.want("a fresh execution", r.finish(f), answer.isFresh)
	}
	r.wantEffects(c.key, 3)
	r.wantRecords(c.key, 3, idempotency.Completed)
	c.service = false
	r.wantReplayOf(mine, b.do(c))
	a.wantNothingHeld(c.key)
}

func userWhoIsGone(r *rig) {
	p, c := r.replica(options{}), fresh()
	r.exec(`DELETE FROM users WHERE id = $1`, r.users[1])
	c.user = r.users[1]
	r.want("a refusal", p.do(c), func(a answer) bool { return a.status >= 400 })
	r.wantEffects(c.key, 0)
	if n := r.count(recordsSQL, c.key); n != 0 {
		r.Fatalf("%d records of a user who is gone", n)
	}
	p.wantNothingHeld(c.key)
}
