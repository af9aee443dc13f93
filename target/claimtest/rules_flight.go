package claimtest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Rules about duplicates of a request that is under way.

func duplicateInFlight(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	winner := a.begin(c)
	if !r.strategy.Waits {
		for range 3 {
			r.want("in flight", b.do(c), answer.isInFlight)
		}
		original := r.finish(winner)
		r.want("a fresh execution", original, answer.isFresh)
		r.wantReplayOf(original, b.do(c))
	} else {
		losers := []flight{b.send(c), b.send(c)}
		b.waits(len(losers))
		original := r.finish(winner)
		r.want("a fresh execution", original, answer.isFresh)
		for _, f := range losers {
			r.wantReplayOf(original, r.await(f.answer))
		}
	}
	r.wantEffects(c.key, 1)
	r.wantRecords(c.key, 1, idempotency.Completed)
}

func waitEndsWithTheDeadline(r *rig) {
	a, c := r.replica(options{}), fresh()
	b := r.replica(options{deadline: aWait})
	winner := a.begin(c)
	r.want("in flight", b.do(c), answer.isInFlight)
	b.wantNothingHeld(uuid.NewString())
	r.wantReplayOf(r.finish(winner), a.do(c))
	r.wantEffects(c.key, 1)
}

func otherBodyInFlight(r *rig) {
	a, c := r.replica(options{}), fresh()
	b := r.replica(options{deadline: aWait}) // who waits, waits in vain
	other := c
	other.body = `{"quantity":2}`
	winner := a.begin(c)
	if r.strategy.Hides {
		r.want("in flight", b.do(other), answer.isInFlight)
	} else {
		r.want("a mismatch", b.do(other), answer.isMismatch)
	}
	r.want("a fresh execution", r.finish(winner), answer.isFresh)
	r.want("a mismatch", a.do(other), answer.isMismatch)
	r.wantEffects(c.key, 1)
}

func cancelledClaimLeavesNothing(r *rig) {
	p, c := r.replica(options{}), fresh()
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	if claim, err := p.claimer.Claim(ctx, p.asRequest(c)); err == nil || claim != nil {
		r.Fatalf("a cancelled claim came to %v, %v", claim, err)
	}
	p.wantNothingHeld(c.key)
	r.want("a fresh execution", p.do(c), answer.isFresh)
	r.wantEffects(c.key, 1)
}

func cancelledWaitEnds(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	winner := a.begin(c)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	ended := make(chan *idempotency.Claim, 1)
	go func() {
		claim, _ := b.claimer.Claim(ctx, b.asRequest(c)) // lost, held, or cancelled
		ended <- claim
	}()
	if r.strategy.Waits {
		b.waits(1)
	}
	cancel()
	select {
	case claim := <-ended:
		if claim != nil {
			r.Fatal("a second claim was granted")
		}
	case <-time.After(patience):
		r.Fatal("the claim waits on although its request was cancelled")
	}
	b.wantNothingHeld(uuid.NewString()) // the winner may still hold something of its own key
	r.wantReplayOf(r.finish(winner), b.do(c))
	r.wantEffects(c.key, 1)
}

// rounds repeat what goes wrong by chance, if it does.
const rounds = 10

func manyDuplicates(r *rig) {
	a, b := r.replica(options{}), r.replica(options{})
	for range rounds {
		c := fresh()
		news, replays := 0, 0
		for _, got := range storm(32, c, a, b) {
			switch {
			case got.isFresh():
				news++
			case got.isReplay():
				replays++
			case !got.isInFlight():
				r.Errorf("a duplicate was answered %v", got)
			}
		}
		if news != 1 {
			r.Fatalf("%d fresh answers to 32 duplicates", news)
		}
		r.wantEffects(c.key, 1)
		r.wantRecords(c.key, 1, idempotency.Completed)
		if n := r.count(replaysSQL, c.key); n != replays {
			r.Fatalf("%d audit rows of %d replays", n, replays)
		}
		r.want("a replay", b.do(c), answer.isReplay)
	}
}

// everyIsolationLevel allows a clean failure under the stricter levels (contract section 6.8).
func everyIsolationLevel(r *rig) {
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		a, b := r.replica(options{isolation: level}), r.replica(options{isolation: level})
		for range rounds / 3 {
			c := fresh()
			news := 0
			for _, got := range storm(16, c, a, b) {
				if got.isFresh() {
					news++
				}
			}
			if news > 1 {
				r.Fatalf("%s: %d fresh answers", level, news)
			}
			failed := r.count(stateSQL, c.key, idempotency.Failed)
			if news+failed != 1 || (failed == 1 && level == "read committed") {
				r.Fatalf("%s: %d fresh answers, %d failed records", level, news, failed)
			}
			r.wantEffects(c.key, news)
		}
	}
}
