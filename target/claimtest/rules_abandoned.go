package claimtest

import (
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Rules about workers that are gone, or seem to be.

// takeOver sends a call until its action is at work again, and says how often it met a stale claim on the way.
func (p *replica) takeOver(c call) (f flight, stale int) {
	p.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(lookEvery) {
		f = p.send(c)
		select {
		case <-f.begun:
			return f, stale
		case a := <-f.answer:
			if a.isStale() {
				stale++
			}
			if !a.isStale() && !a.isInFlight() {
				p.Fatalf("while the key was taken: answered %v", a)
			}
		case <-time.After(patience):
			p.Fatal("a request was not answered")
		}
	}
	p.Fatal("the key never came free")
	return f, stale
}

func oldOwnerCannotCommit(r *rig) {
	a, b, c := r.replica(options{staleAfter: soon}), r.replica(options{staleAfter: soon}), fresh()
	zombie := a.begin(c)
	if r.strategy.Ends == idempotency.WithItsTransaction {
		a.crash() // its worker does not know
	}
	heir, stale := b.takeOver(c)
	if want := r.strategy.Ends == idempotency.ByRetirement; (stale == 1) != want || stale > 1 {
		r.Errorf("the claim was found stale %d times", stale)
	}
	late := r.finish(zombie)
	original := r.finish(heir)
	if r.strategy.Ends == idempotency.WithItsLease && late.isFresh() { // the first to commit stands
		late, original = original, late
	}
	r.want("an error", late, func(a answer) bool { return a.status >= 500 })
	r.want("a fresh execution", original, answer.isFresh)
	r.wantEffects(c.key, 1)
	r.wantRecords(c.key, 1, idempotency.Completed)
	r.wantReplayOf(original, b.do(c))
}

// abandonedClaimEnds lets no claim grow old: what ends, ends with its worker.
func abandonedClaimEnds(r *rig) {
	a, b, c := r.replica(options{}), r.replica(options{}), fresh()
	worker := a.begin(c)
	a.crash()
	if r.strategy.Ends != idempotency.WithItsTransaction {
		r.want("in flight", b.do(c), answer.isInFlight)
		r.want("an error", r.finish(worker), func(a answer) bool { return a.status >= 500 })
		r.wantEffects(c.key, 0)
		return
	}
	original := b.do(c)
	r.want("an execution at once", original, answer.isFresh)
	r.want("an error", r.finish(worker), func(a answer) bool { return a.status >= 500 })
	r.wantReplayOf(original, b.do(c))
	r.wantEffects(c.key, 1)
}

const (
	makeStaleSQL = `
UPDATE idempotency_keys SET status = 'in_flight', response_code = NULL, response_body = NULL, locked_at = NOW() - INTERVAL '1 day'
WHERE idem_key = $1`
	forgetEffectSQL = `DELETE FROM claimtest_effects WHERE idem_key = $1`
)

// staleRecordIsRetiredOnce asks it of strategies too that leave no such record: another may have, before the strategy was changed.
func staleRecordIsRetiredOnce(r *rig) {
	a, b := r.replica(options{}), r.replica(options{})
	for range rounds / 2 {
		c := fresh()
		a.do(c)
		r.exec(makeStaleSQL, c.key)
		r.exec(forgetEffectSQL, c.key)
		retired, news := 0, 0
		for _, got := range storm(32, c, a, b) {
			switch {
			case got.isStale():
				retired++
			case got.isFresh():
				news++
			case !got.isReplay() && !got.isInFlight():
				r.Errorf("a duplicate was answered %v", got)
			}
		}
		if retired > 1 || news > 1 || retired+news == 0 {
			r.Fatalf("%d retired the record, %d executed", retired, news)
		}
		r.want("an execution or its replay", b.do(c), func(a answer) bool { return a.status == 201 && a.isFresh() == (news == 0) })
		r.wantEffects(c.key, 1)
	}
}

// maxAnswers bounds how many answers of its stores a request may take; none takes half of that.
const maxAnswers = 60

// lostAnswers breaks the connection at the first answer, then at the second, until a request needed no more: at the claim's own among them,
// whose row is then met by its maker's retry, and at the commit's.
func lostAnswers(r *rig) {
	net := &cutter{}
	a := r.replica(options{staleAfter: soon, conns: 1, net: net})
	b := r.replica(options{staleAfter: soon})
	for n := 1; n <= maxAnswers; n++ {
		a.do(fresh()) // connected, and its statements known
		c := fresh()
		net.arm(n)
		first := a.do(c)
		lost := net.disarm()
		settled := b.settle(c)
		executed := 1
		switch {
		case settled.isFailed() && !first.isFresh():
			executed = 0
		case first.isFresh():
			r.wantReplayOf(first, settled)
		}
		r.wantEffects(c.key, executed)
		if !lost {
			r.want("a fresh execution", first, answer.isFresh)
			return
		}
	}
	r.Fatalf("a request took %d answers of its stores", maxAnswers)
}

// settle retries a call until its answer is final.
func (p *replica) settle(c call) (a answer) {
	p.Helper()
	p.eventually("a final answer", func() bool {
		a = p.do(c)
		return a.status == 201 || a.isFailed()
	})
	return a
}
