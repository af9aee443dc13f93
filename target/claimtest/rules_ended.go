package claimtest

import (
	"errors"
	"net/http"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Rules about keys that have ended.

func freshKeyIsExecutedOnce(r *rig) {
	p, c := r.replica(options{}), fresh()
	r.want("a fresh execution", p.do(c), answer.isFresh)
	r.wantEffects(c.key, 1)
	r.wantRecords(c.key, 1, idempotency.Completed)
	r.want("the stored code", answer{status: r.count(`SELECT response_code FROM idempotency_keys WHERE idem_key = $1`, c.key)},
		func(a answer) bool { return a.status == http.StatusCreated })
	if n := r.count(`SELECT count(*) FROM idempotency_keys WHERE idem_key = $1 AND expires_at = created_at + INTERVAL '1 hour'`, c.key); n != 1 {
		r.Fatal("the record does not live as long as its route says")
	}
}

func replayEqualsTheOriginal(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	original := a.do(c)
	r.want("a fresh execution", original, answer.isFresh)
	for _, again := range []*replica{b, a, b} {
		r.wantReplayOf(original, again.do(c))
	}
	r.wantEffects(c.key, 1)
	if n := r.count(replaysSQL, c.key); n != 3 {
		r.Fatalf("%d audit rows of 3 replays", n)
	}
}

func otherBodyIsRefused(r *rig) {
	p := r.replica(options{})
	completed, failed := fresh(), fresh()
	original := p.do(completed)
	failed.work = &work{end: refusal}
	p.do(failed)
	for _, c := range []call{completed, failed} {
		c.body, c.work = `{"quantity":2}`, nil
		r.want("a mismatch", p.do(c), answer.isMismatch)
	}
	r.wantReplayOf(original, p.do(completed))
	r.wantEffects(completed.key, 1)
	r.wantEffects(failed.key, 0)
	if n := r.count(replaysSQL, completed.key); n != 1 {
		r.Fatalf("%d audit rows of one replay and a mismatch", n)
	}
}

func refusal() (idempotency.Response, error) {
	return idempotency.Response{}, &idempotency.Refusal{Status: 422, Code: "insufficient_cash"}
}

func failureStays(r *rig) {
	a, b := r.replica(options{}), r.replica(options{})
	for name, end := range map[string]func() (idempotency.Response, error){
		"refused": refusal,
		"error":   func() (idempotency.Response, error) { return idempotency.Response{}, errors.New("no") },
		"panic":   func() (idempotency.Response, error) { panic("no") },
		"500":     func() (idempotency.Response, error) { return idempotency.JSON(500, "no") },
	} {
		c := fresh()
		c.work = &work{end: end}
		r.want(name+": an error", a.do(c), func(a answer) bool { return a.status >= 400 })
		c.work = nil // it would succeed
		for range 2 {
			r.want(name+": a refusal", b.do(c), answer.isFailed)
		}
		r.wantEffects(c.key, 0)
		r.wantRecords(c.key, 1, idempotency.Failed)
		a.wantNothingHeld(c.key)
	}
}

const expireSQL = `
UPDATE idempotency_keys SET created_at = created_at - INTERVAL '1 day', expires_at = NOW() - INTERVAL '1 second' WHERE idem_key = $1`

func expiredRecordIsClaimedAfresh(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	first := a.do(c)
	r.exec(expireSQL, c.key)
	news := 0
	for _, again := range storm(16, c, a, b) {
		switch {
		case again.isFresh():
			news++
		case again.isReplay() && again.text("execution") == first.text("execution"):
			r.Errorf("what is past its time was replayed: %v", again)
		}
	}
	if news != 1 {
		r.Errorf("%d fresh answers after the record's time, want one", news)
	}
	r.wantEffects(c.key, 2)
	r.wantRecords(c.key, 1, idempotency.Completed)
}

func withheldAnswerExecutesAgain(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	c.endpoint = private
	for i, p := range []*replica{a, b, a} {
		r.want("an execution", p.do(c), answer.isFresh)
		r.wantEffects(c.key, i+1)
	}
	r.wantRecords(c.key, 1, idempotency.Completed)
	if n := r.count(`SELECT count(*) FROM idempotency_keys WHERE idem_key = $1 AND response_body IS NOT NULL`, c.key); n != 0 {
		r.Error("the answer was stored")
	}
	c.body = `{"quantity":2}`
	r.want("a mismatch", a.do(c), answer.isMismatch)
	a.wantNothingHeld(c.key)
}

func nothingIsHeldAfterwards(r *rig) {
	p := r.replica(options{})
	won, lost, refused := fresh(), fresh(), fresh()
	p.do(won)
	p.do(won)
	refused.work = &work{end: refusal}
	p.do(refused)
	f := p.begin(lost)
	if !r.strategy.Waits {
		p.do(lost)
	}
	other := lost
	other.endpoint = alsoThere
	p.do(other)
	r.finish(f)
	for _, c := range []call{won, lost, refused} {
		p.wantNothingHeld(c.key)
	}
}
